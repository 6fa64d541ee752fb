// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mapsim {

// A positive quantity to fit, kept inside (lower, upper) by its parametrisation: the solver moves
// u in value = lower * (upper / lower)^(1 / (1 + exp(-u))), which no step can leave.
struct FitParameter {
  std::string name;
  double start = 0;  // lower < start < upper
  double lower = 0;  // > 0
  double upper = 0;
  // How far ln(value / start) may well be from 0; 0: anywhere. Counts as one observation, so that a
  // parameter of which the data say nothing stays where it was instead of wandering to a bound.
  double prior = 0;
  double prior_at = 0;  // what the above is a distance from, where that is not `start`
  // If true, it stays at its prior unless the data determine it alone, even if the fit gets worse.
  bool by_itself = false;
};

struct FitOptions {
  // Residuals well above this count by their size, not its square (soft-L1: Huber's idea, smooth;
  // Triggs et al., "Bundle Adjustment", 2000). 0.1 of a log ratio is 10 % of the time.
  double soft_scale = 0.1;
  double noise = 0.05;                 // of a residual, where its size matters: against priors
  std::int64_t max_evaluations = 350;  // of the residuals, those for the Jacobian included
  double redundancy = 1;  // residuals over independent ones: errors do not shrink by it
};

// What the data say about one parameter.
struct FittedParameter {
  double value = 0;
  // Standard error of ln(value): sqrt of the diagonal of s^2 (J^T J)^-1. Infinite where no residual
  // depends on the parameter or only a combination of several is determined.
  double relative_error = 0;
  bool at_bound = false;    // within 2 % of the (logarithmic) range from an end
  bool determined = false;  // inside its bounds and known within a factor of two (95 %)
  bool fixed = false;       // by fit_determined(), at its prior value
};

struct Fit {
  std::vector<FittedParameter> parameters;  // as given
  double cost = 0;                          // mean of the soft-L1 losses
  std::int64_t evaluations = 0;
  std::vector<double> values() const;
};

// residuals(values, out): out[i] = ln(predicted / measured) of observation i.
using Residuals = std::function<void(std::span<const double>, std::span<double>)>;

// Least soft-L1 sum of `count` residuals by Levenberg-Marquardt (Eigen), Jacobian by differences.
// Deterministic. `weights` multiply the residuals before the loss; empty: all 1.
Fit fit(const std::vector<FitParameter>& parameters, std::int64_t count, const Residuals& residuals,
        std::span<const double> weights = {}, const FitOptions& options = {});

// The same, but what the residuals do not determine stays at its prior value: from all parameters
// the least known one goes until the others, with those that went held fixed, are each known within
// a factor of two; then they are fitted again. Where that costs more than a quarter of the loss,
// the residuals know several only together: of these just what they do not see at all stays. Errors
// of what is fitted are with the rest held fixed.
Fit fit_determined(const std::vector<FitParameter>& parameters, std::int64_t count,
                   const Residuals& residuals, const FitOptions& options = {});

// The soft-L1 loss of one residual, 2 s^2 (sqrt(1 + (r/s)^2) - 1): r^2 when small, 2 s |r| when
// large.
double soft_l1(double residual, double scale);

}  // namespace mapsim
