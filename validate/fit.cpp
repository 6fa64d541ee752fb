// SPDX-License-Identifier: Apache-2.0
#include "validate/fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unsupported/Eigen/LevenbergMarquardt>

namespace mapsim {
namespace {

// Where the solver stands for a value, and back.
double to_free(const FitParameter& parameter, double value) {
  const double part =
      std::log(value / parameter.lower) / std::log(parameter.upper / parameter.lower);
  const double inside = std::clamp(part, 1e-6, 1 - 1e-6);
  return std::log(inside / (1 - inside));
}
double to_value(const FitParameter& parameter, double free) {
  const double part = 1 / (1 + std::exp(-free));
  return parameter.lower * std::pow(parameter.upper / parameter.lower, part);
}

double prior_of(const FitParameter& parameter) {
  return parameter.prior_at > 0 ? parameter.prior_at : parameter.start;
}

// What Eigen minimises: the sum of squares of signed square roots of the losses.
class Problem : public Eigen::DenseFunctor<double> {
 public:
  Problem(const std::vector<FitParameter>& parameters, std::int64_t count,
          const Residuals& residuals, std::span<const double> weights, const FitOptions& options)
      : DenseFunctor(static_cast<int>(parameters.size()),
                     static_cast<int>(count + std::ssize(parameters))),
        count_{count},
        parameters_{parameters},
        residuals_{residuals},
        weights_{weights},
        options_{options} {}

  std::vector<double> values_at(const InputType& free) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      values.push_back(to_value(parameters_[i], free[static_cast<Eigen::Index>(i)]));
    }
    return values;
  }
  // Without the priors: signed square roots of the losses.
  void losses(std::span<const double> values, std::span<double> out) const {
    ++evaluations_;
    residuals_(values, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double r = out[i] * (weights_.empty() ? 1 : weights_[i]);
      out[i] = std::copysign(std::sqrt(soft_l1(r, options_.soft_scale)), r);
    }
  }
  int operator()(const InputType& free, ValueType& out) const {
    const std::vector<double> values = values_at(free);
    losses(values, {out.data(), static_cast<std::size_t>(count_)});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const FitParameter& p = parameters_[i];
      out[count_ + static_cast<Eigen::Index>(i)] =
          p.prior > 0 ? options_.noise * std::log(values[i] / prior_of(p)) / p.prior : 0;
    }
    return 0;
  }
  // Central differences: predictions have kinks (waves, the best of several kernels), which a step
  // of 1e-3 of the logistic variable averages.
  int df(const InputType& free, JacobianType& jacobian) const {
    constexpr double kStep = 1e-3;
    ValueType above(values());
    ValueType below(values());
    for (Eigen::Index i = 0; i < free.size(); ++i) {
      InputType moved = free;
      moved[i] = free[i] + kStep;
      (*this)(moved, above);
      moved[i] = free[i] - kStep;
      (*this)(moved, below);
      jacobian.col(i) = (above - below) / (2 * kStep);
    }
    return 0;
  }
  std::int64_t evaluations() const { return evaluations_; }

 private:
  std::int64_t count_;  // of the observations; the priors follow them
  const std::vector<FitParameter>& parameters_;
  const Residuals& residuals_;
  std::span<const double> weights_;
  const FitOptions& options_;
  mutable std::int64_t evaluations_ = 0;
};

// d loss / d ln(value) by central differences; at a bound, where no step of the free variable moves
// the value, from one side.
Eigen::MatrixXd log_jacobian(const Problem& problem, const std::vector<FitParameter>& parameters,
                             const std::vector<double>& values, std::int64_t count) {
  constexpr double kStep = 2e-3;
  Eigen::MatrixXd logs(count, static_cast<Eigen::Index>(values.size()));
  Eigen::VectorXd above(count);
  Eigen::VectorXd below(count);
  const auto rows = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> moved = values;
    moved[i] = std::min(values[i] * (1 + kStep), parameters[i].upper);
    const double high = std::log(moved[i]);
    problem.losses(moved, {above.data(), rows});
    moved[i] = std::max(values[i] * (1 - kStep), parameters[i].lower);
    problem.losses(moved, {below.data(), rows});
    logs.col(static_cast<Eigen::Index>(i)) = (above - below) / (high - std::log(moved[i]));
  }
  return logs;
}

// Standard errors of ln(value) from the Jacobian in ln(value). Directions without information
// (relative eigenvalue under 1e-10) make every parameter that takes part in them infinite.
Eigen::VectorXd standard_errors(const Eigen::MatrixXd& logs, double variance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(logs.transpose() * logs);
  const double largest = std::max(solver.eigenvalues().maxCoeff(), 1e-300);
  Eigen::VectorXd errors(logs.cols());
  for (Eigen::Index i = 0; i < logs.cols(); ++i) {
    double sum = 0;
    for (Eigen::Index k = 0; k < logs.cols(); ++k) {
      const double part = solver.eigenvectors()(i, k);
      const double eigenvalue = solver.eigenvalues()[k];
      if (eigenvalue > 1e-10 * largest) {
        sum += part * part / eigenvalue;
      } else if (std::abs(part) > 1e-3) {
        sum = std::numeric_limits<double>::infinity();
      }
    }
    errors[i] = std::sqrt(variance * sum);
  }
  return errors;
}

// Known within a factor of two (95 %).
bool is_known(double relative_error) { return 1.96 * relative_error < std::log(2.0); }

// A fit and what its errors come from.
struct Solution {
  Fit fit;
  Eigen::MatrixXd logs;  // d residual / d ln(value), without the priors
  double variance = 0;   // of a residual
};

Solution solve(const std::vector<FitParameter>& parameters, std::int64_t count,
               const Residuals& residuals, std::span<const double> weights,
               const FitOptions& options) {
  Problem problem(parameters, count, residuals, weights, options);
  Eigen::VectorXd free(static_cast<Eigen::Index>(parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    free[static_cast<Eigen::Index>(i)] = to_free(parameters[i], parameters[i].start);
  }
  Eigen::LevenbergMarquardt<Problem> solver(problem);
  const auto per_jacobian = 2 * static_cast<std::int64_t>(parameters.size());
  solver.setMaxfev(
      static_cast<int>(std::max<std::int64_t>(options.max_evaluations / (per_jacobian + 1), 2)));
  solver.setFtol(1e-7);
  solver.setXtol(1e-6);
  solver.minimize(free);

  Solution result;
  Eigen::VectorXd at(problem.values());
  problem(free, at);
  at.conservativeResize(count);  // what the data say, without the priors
  result.logs = log_jacobian(problem, parameters, problem.values_at(free), count);
  // Parameters that priors hold take no freedom: of few rows at least half are free.
  const auto freedom = std::max<std::int64_t>(
      {count - static_cast<std::int64_t>(parameters.size()), count / 2, std::int64_t{1}});
  result.variance = options.redundancy * at.squaredNorm() / static_cast<double>(freedom);
  result.fit.cost = at.squaredNorm() / static_cast<double>(std::max<std::int64_t>(count, 1));
  const Eigen::VectorXd errors = standard_errors(result.logs, result.variance);
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    FittedParameter fitted;
    fitted.value = to_value(parameters[static_cast<std::size_t>(i)], free[i]);
    fitted.relative_error = errors[i];
    const double part = 1 / (1 + std::exp(-free[i]));
    fitted.at_bound = part < 0.02 || part > 0.98;
    fitted.determined = !fitted.at_bound && is_known(errors[i]);
    result.fit.parameters.push_back(fitted);
  }
  result.fit.evaluations = problem.evaluations();
  return result;
}

// Of the columns, those that are known together: again and again the least known one goes.
// `seen`: those with a finite error are enough.
std::vector<std::size_t> known_together(const Solution& solution, bool seen) {
  std::vector<std::size_t> kept(static_cast<std::size_t>(solution.logs.cols()));
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  while (!kept.empty()) {
    const std::vector<Eigen::Index> columns(kept.begin(), kept.end());
    const Eigen::MatrixXd logs = solution.logs(Eigen::all, columns);
    const Eigen::VectorXd errors = standard_errors(logs, solution.variance);
    std::size_t worst = 0;
    for (std::size_t i = 1; i < kept.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      const auto of = static_cast<Eigen::Index>(worst);
      // Of several that are not known at all, the one that matters least.
      if (errors[at] > errors[of] ||
          (errors[at] == errors[of] && logs.col(at).norm() < logs.col(of).norm())) {
        worst = i;
      }
    }
    const double error = errors[static_cast<Eigen::Index>(worst)];
    if (seen ? std::isfinite(error) : is_known(error)) {
      break;
    }
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(worst));
  }
  return kept;
}

}  // namespace

double soft_l1(double residual, double scale) {
  const double z = residual / scale;
  // (sqrt(1 + z^2) - 1) without the loss of digits near zero.
  return 2 * scale * scale * (z * z / (std::sqrt(1 + z * z) + 1));
}

std::vector<double> Fit::values() const {
  std::vector<double> result;
  for (const FittedParameter& parameter : parameters) {
    result.push_back(parameter.value);
  }
  return result;
}

Fit fit(const std::vector<FitParameter>& parameters, std::int64_t count, const Residuals& residuals,
        std::span<const double> weights, const FitOptions& options) {
  return solve(parameters, count, residuals, weights, options).fit;
}

namespace {

// `result` with the chosen parameters fitted again, the others at their priors.
Solution fit_chosen(const std::vector<FitParameter>& parameters,
                    const std::vector<std::size_t>& chosen, std::int64_t count,
                    const Residuals& residuals, const FitOptions& options, Fit& result) {
  std::vector<FitParameter> some;
  std::vector<double> all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    FittedParameter& fitted = result.parameters[i];
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) {
      fitted.value = prior_of(parameters[i]);
      fitted.at_bound = false;
      fitted.determined = false;
      fitted.fixed = true;
    } else {
      some.push_back(parameters[i]);
      some.back().prior_at = prior_of(parameters[i]);
      some.back().start = fitted.value;
    }
    all.push_back(fitted.value);
  }
  if (chosen.empty()) {
    return {};
  }
  const Residuals of_some = [&](std::span<const double> values, std::span<double> out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      all[chosen[i]] = values[i];
    }
    residuals(all, out);
  };
  Solution solution = solve(some, count, of_some, {}, options);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    result.parameters[chosen[i]] = solution.fit.parameters[i];
  }
  result.cost = solution.fit.cost;
  result.evaluations += solution.fit.evaluations;
  return solution;
}

}  // namespace

Fit fit_determined(const std::vector<FitParameter>& parameters, std::int64_t count,
                   const Residuals& residuals, const FitOptions& options) {
  constexpr double kWorse = 1.25;
  constexpr std::int64_t kRows = 4;  // per parameter, where none is known by itself
  const Solution full = solve(parameters, count, residuals, {}, options);
  Fit result = full.fit;
  Solution solution = full;
  std::vector<std::size_t> chosen(parameters.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  while (!chosen.empty()) {
    std::vector<std::size_t> kept;
    for (const std::size_t i : known_together(solution, false)) {
      kept.push_back(chosen[i]);
    }
    if (kept.size() == chosen.size()) {
      break;
    }
    chosen = std::move(kept);
    solution = fit_chosen(parameters, chosen, count, residuals, options, result);
  }
  if (chosen.empty() || result.cost <= kWorse * full.fit.cost) {
    return result;
  }
  std::vector<std::size_t> seen = known_together(full, true);
  std::erase_if(
      seen, [&](std::size_t i) { return parameters[i].by_itself && result.parameters[i].fixed; });
  if (count < kRows * std::ssize(seen)) {
    return result;
  }
  Fit together = full.fit;
  fit_chosen(parameters, seen, count, residuals, options, together);
  const auto is_vague = [&](std::size_t i) {
    return parameters[i].by_itself && !together.parameters[i].determined;
  };
  if (std::erase_if(seen, is_vague) > 0) {
    together = full.fit;
    fit_chosen(parameters, seen, count, residuals, options, together);
  }
  return together.cost < result.cost ? together : result;
}

}  // namespace mapsim
