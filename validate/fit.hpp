// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mapsim {

// A positive quantity to fit. The solver moves u in value = lower * (upper / lower)^(1 / (1 +
// exp(-u))), so that the value stays inside (lower, upper).
struct FitParameter {
  std::string name;
  double start = 0;  // lower < start < upper
  double lower = 0;  // > 0
  double upper = 0;
  // Standard deviation of the prior of ln(value / start); 0: no prior. The prior counts as one
  // observation, so that a parameter that the data do not determine stays near its start.
  double prior = 0;
  double prior_at = 0;  // centre of the prior, if it is not `start`; 0: it is
  // If true, it stays at its prior unless the data determine it alone, even if the fit gets worse.
  bool by_itself = false;
};

// How residuals are weighed, and when the fit stops.
struct FitOptions {
  // Residuals well above this count by their size, not its square (soft-L1, a smooth Huber loss;
  // Triggs et al., "Bundle Adjustment", 2000). A log ratio of 0.1 is 10 % of the time.
  double soft_scale = 0.1;
  double noise = 0.05;                 // standard deviation of a residual, to weigh it with priors
  std::int64_t max_evaluations = 350;  // of the residuals, including those for the Jacobian
  double redundancy = 1;               // residuals per independent one; errors do not shrink by it
};

// The fit of one parameter.
struct FittedParameter {
  double value = 0;
  // Standard error of ln(value): sqrt of the diagonal of s^2 (J^T J)^-1. Infinite where no residual
  // depends on the parameter or only a combination of several is determined.
  double relative_error = 0;
  bool at_bound = false;    // within 2 % of the (logarithmic) range from an end
  bool determined = false;  // inside its bounds and known within a factor of two (95 %)
  bool fixed = false;       // by fit_determined(), at its prior value
};

// A fit of all parameters.
struct Fit {
  std::vector<FittedParameter> parameters;  // as given
  double cost = 0;                          // mean of the soft-L1 losses
  std::int64_t evaluations = 0;
  std::vector<double> values() const;
};

// residuals(values, out): sets out[i] = ln(predicted / measured) of observation i.
using Residuals = std::function<void(std::span<const double>, std::span<double>)>;

// Minimises the soft-L1 sum of `count` residuals by Levenberg-Marquardt (Eigen), with a Jacobian by
// differences. `weights` multiply the residuals before the loss; empty: all 1. Deterministic.
Fit fit(const std::vector<FitParameter>& parameters, std::int64_t count, const Residuals& residuals,
        std::span<const double> weights = {}, const FitOptions& options = {});

// The same, but parameters that the residuals do not determine are fixed at their prior values. The
// least known parameter is fixed until each of the others is known within a factor of two; then
// these are fitted again. If that raises the loss by more than a quarter, the residuals determine
// several parameters only together; then only those that no residual depends on are fixed. The
// errors of fitted parameters hold with the others fixed.
Fit fit_determined(const std::vector<FitParameter>& parameters, std::int64_t count,
                   const Residuals& residuals, const FitOptions& options = {});

// The soft-L1 loss of one residual, 2 s^2 (sqrt(1 + (r/s)^2) - 1): r^2 when small, 2 s |r| when
// large.
double soft_l1(double residual, double scale);

}  // namespace mapsim
