// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/rng.hpp"
#include "validate/observations.hpp"

namespace mapsim {
namespace {

// A regret that differs by less is the same. Two timings of one kernel differ by 1 to 2 % (L20,
// three days), their mean over some thirty problems by 0.25 %, twice that at 95 %.
constexpr double kRegretSlack = 0.005;
constexpr double kGain = 1e-3;  // of the cost, for which a fit begins again

using Rows = std::vector<const Observation*>;

// At most `most` of the rows, in their order: those with the least random numbers.
Rows draw(const Rows& rows, std::int64_t most, std::uint64_t seed) {
  if (std::ssize(rows) <= most) {
    return rows;
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  Rng rng{seed};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    order.emplace_back(rng.next(), i);
  }
  std::sort(order.begin(), order.end());
  order.resize(static_cast<std::size_t>(most));
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  Rows result;
  for (const auto& [random, i] : order) {
    result.push_back(rows[i]);
  }
  return result;
}

class GroupFit {
 public:
  GroupFit(const Gpu& gpu, const CalibrationOptions& options, const ObservationGroup& group)
      : gpu_{&gpu}, options_{&options}, group_{&group} {
    // A library's kernels are of several paths; one calibration serves them all.
    start_ = gpu.calibration(group.precision, group.path.value_or(GpuPath::kMma));
    start_.precision = group.precision;
    start_.path = group.path;
  }

  GroupCalibration run() const {
    GroupCalibration result;
    result.precision = group_->precision;
    result.path = group_->path;
    result.fitted = start_;
    result.rows = std::ssize(group_->rows);
    result.problems = group_->problems;
    result.left_out = group_->left_out;
    result.first_left_out = group_->first_left_out;
    if (group_->problems < std::max<std::int64_t>(options_->folds, 2)) {
      result.refusal = fmt::format("{} problems are too few to hold any out in {} folds",
                                   group_->problems, options_->folds);
      return result;
    }
    validate(result);
    if (result.scores.empty()) {
      return result;
    }
    Rows all;
    for (const Observation& row : group_->rows) {
      all.push_back(&row);
    }
    const Fit fitted = fit_rows(all);
    for (std::size_t i = 0; i < calibration_fields().size(); ++i) {
      const CalibrationField& field = calibration_fields()[i];
      result.parameters.push_back({field.name, field.get(start_), fitted.parameters[i]});
      field.set(result.fitted, fitted.parameters[i].value);
    }
    result.fitted.fitted_from = options_->source;
    judge(result);
    return result;
  }

 private:
  GpuCalibration with(std::span<const double> values) const {
    GpuCalibration calibration = start_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      calibration_fields()[i].set(calibration, values[i]);
    }
    return calibration;
  }

  Fit fit_rows(const Rows& rows) const {
    std::vector<Observation> training;
    for (const Observation* row : draw(rows, options_->fit_rows, options_->seed)) {
      training.push_back(*row);
      if (!fill_options(*gpu_, start_, *options_, training.back())) {
        training.pop_back();
      }
    }
    std::vector<FitParameter> parameters;
    for (const CalibrationField& field : calibration_fields()) {
      parameters.push_back({field.name, field.get(start_), field.lower, field.upper, field.prior});
    }
    const Residuals residuals = [&](std::span<const double> values, std::span<double> out) {
      const GpuCalibration calibration = with(values);
      for (std::size_t i = 0; i < training.size(); ++i) {
        out[i] = std::log(predict(*gpu_, calibration, training[i]) / training[i].measured);
      }
    };
    return from_above_the_limit(parameters, std::ssize(training), residuals);
  }

  // Where no measurement reaches the power limit as it is modelled at first, energies have no
  // slope: the fit begins again where higher ones explain the measurements better than it did.
  static Fit from_above_the_limit(std::vector<FitParameter> parameters, std::int64_t count,
                                  const Residuals& residuals) {
    Fit first = fit(parameters, count, residuals);
    const auto power = static_cast<std::size_t>(
        std::find_if(parameters.begin(), parameters.end(),
                     [](const FitParameter& p) { return p.name == "power"; }) -
        parameters.begin());
    std::vector<double> best = first.values();
    double least = first.cost * (1 - kGain);
    std::vector<double> out(static_cast<std::size_t>(count));
    for (const double factor : {1.25, 1.5, 2.0, 3.0, 4.0}) {
      std::vector<double> values = first.values();
      values[power] = std::min(values[power] * factor, 0.9 * parameters[power].upper);
      residuals(values, out);
      double cost = 0;
      for (const double r : out) {
        cost += soft_l1(r, FitOptions{}.soft_scale) / static_cast<double>(count);
      }
      if (cost < least) {
        least = cost;
        best = std::move(values);
      }
    }
    if (best == first.values()) {
      return first;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].prior_at = parameters[i].start;
      parameters[i].start = best[i];
    }
    Fit second = fit(parameters, count, residuals);
    return second.cost < first.cost ? second : first;
  }

  // Mean slowdown of each kernel over the training problems: the one with the least is the tile
  // that somebody would fix for good.
  static std::map<std::int64_t, double> slowdowns(const Rows& training) {
    std::map<std::int64_t, double> best;
    for (const Observation* row : training) {
      const auto [place, is_new] = best.try_emplace(row->problem_number, row->measured);
      place->second = std::min(place->second, row->measured);
    }
    std::map<std::int64_t, std::pair<double, double>> sums;
    for (const Observation* row : training) {
      auto& [sum, count] = sums[row->kernel_number];
      sum += std::log(row->measured / best.at(row->problem_number));
      count += 1;
    }
    std::map<std::int64_t, double> result;
    for (const auto& [kernel, sum] : sums) {
      result[kernel] = std::exp(sum.first / sum.second);
    }
    return result;
  }

  struct HeldOut {
    std::vector<Prediction> calibrated, uncalibrated, roofline, fixed, random;
    std::int64_t without_kernel = 0;  // rows
  };

  HeldOut cross_validate() const {
    HeldOut out;
    const std::vector<std::int64_t> dealt =
        deal_folds(group_->problems, options_->folds, options_->seed);
    for (std::int64_t fold = 0; fold < options_->folds; ++fold) {
      Rows training;
      Rows test;
      for (const Observation& row : group_->rows) {
        const bool is_test = dealt[static_cast<std::size_t>(row.problem_number)] == fold;
        (is_test ? test : training).push_back(&row);
      }
      const GpuCalibration fitted = with(fit_rows(training).values());
      const std::map<std::int64_t, double> slow = slowdowns(training);
      for (const Observation* row : test) {
        Observation ready = *row;
        if (!fill_options(*gpu_, start_, *options_, ready)) {
          ++out.without_kernel;
          continue;
        }
        const auto add = [&](std::vector<Prediction>& list, double predicted) {
          list.push_back({row->problem_number, row->kernel_number, row->measured, predicted});
        };
        add(out.calibrated, predict(*gpu_, fitted, ready));
        add(out.uncalibrated, predict(*gpu_, start_, ready));
        add(out.roofline, roofline_time(*gpu_, ready, group_->path));
        const auto known = slow.find(row->kernel_number);
        add(out.fixed, known == slow.end() ? 1e9 : known->second);
        add(out.random, 1);  // all alike: the expected value of a choice by chance
      }
    }
    return out;
  }

  void validate(GroupCalibration& result) const {
    const HeldOut out = cross_validate();
    if (out.without_kernel > 0) {
      result.refusal =
          fmt::format("{} of {} rows were not held out: no kernel of the library can run them",
                      out.without_kernel, result.rows);
      if (out.calibrated.empty()) {
        return;
      }
    }
    result.scores = {
        {"calibrated", error_metrics(out.calibrated), rank_metrics(out.calibrated)},
        {"uncalibrated", error_metrics(out.uncalibrated), rank_metrics(out.uncalibrated)},
        {"roofline", error_metrics(out.roofline), rank_metrics(out.roofline)}};
    if (result.scores[0].ranks.problems > 0) {
      result.scores.push_back({"static best", std::nullopt, rank_metrics(out.fixed)});
      result.scores.push_back({"random", std::nullopt, rank_metrics(out.random)});
    }
    std::map<int, std::vector<Prediction>> decades;
    std::vector<double> errors;
    for (const Prediction& p : out.calibrated) {
      decades[static_cast<int>(std::floor(std::log10(p.measured)))].push_back(p);
      errors.push_back(std::abs(std::log(p.measured / p.predicted)));
    }
    for (const auto& [power, predictions] : decades) {
      result.decades.push_back(std::pow(10.0, power));
      result.by_decade.push_back(error_metrics(predictions));
    }
    std::sort(errors.begin(), errors.end());
    if (!errors.empty()) {
      result.fitted.error = errors[errors.size() * 9 / 10];
    }
  }

  // Refusals and warnings.
  static void judge(GroupCalibration& result) {
    const CalibrationScore& after = result.scores[0];
    const CalibrationScore& before = result.scores[1];
    const double rise = after.ranks.top1 - before.ranks.top1;
    if (result.refusal) {
      // not every row was held out
    } else if (rise > kRegretSlack) {
      result.refusal = fmt::format(
          "held-out top-1 regret rises from {:.4f} to {:.4f}: the fit ranks worse than "
          "what there was",
          before.ranks.top1, after.ranks.top1);
    } else if (after.errors->mape > before.errors->mape) {
      result.refusal = fmt::format("held-out MAPE rises from {:.1f} % to {:.1f} %",
                                   100 * before.errors->mape, 100 * after.errors->mape);
    }
    if (rise > 0 && rise <= kRegretSlack) {
      result.warnings.push_back(
          fmt::format("held-out top-1 regret rose by {:.4f}, within noise {}", rise, kRegretSlack));
    }
    for (const CalibrationScore& score : result.scores) {
      if (score.name == "static best" && score.ranks.top1 < after.ranks.top1) {
        result.warnings.push_back(
            fmt::format("the kernel that is best on average ({}) has a top-1 regret of {:.4f}, the "
                        "model {:.4f}: "
                        "to choose a kernel, these measurements need no model",
                        score.name, score.ranks.top1, after.ranks.top1));
      }
    }
    warn_of_parameters(result);
  }

  static void warn_of_parameters(GroupCalibration& result) {
    std::string undetermined;
    for (std::size_t i = 0; i < result.parameters.size(); ++i) {
      const CalibratedParameter& parameter = result.parameters[i];
      const FittedParameter& fitted = parameter.fitted;
      const bool is_fast = calibration_fields()[i].is_rate && fitted.value > 1;
      if (fitted.at_bound && !is_fast) {
        result.warnings.push_back(
            fmt::format("{} stands at its bound {:.3g}: the measurements do not determine it, or "
                        "the model lacks something that it makes up for",
                        parameter.name, fitted.value));
      } else if (!fitted.determined && !fitted.at_bound) {
        undetermined += (undetermined.empty() ? "" : ", ") + parameter.name;
      }
      if ((fitted.at_bound && is_fast) || (calibration_fields()[i].is_rate && fitted.determined &&
                                           (fitted.value < 0.6 || fitted.value > 1.0))) {
        result.warnings.push_back(fmt::format(
            "spec suspicious: {} = {:.3f}{} is outside of 0.6 to 1.0; check the figure of "
            "the architecture file that it scales",
            parameter.name, fitted.value, fitted.at_bound ? ", its bound," : ""));
      }
    }
    if (!undetermined.empty()) {
      result.warnings.push_back(
          fmt::format("not determined by these measurements: {}", undetermined));
    }
  }

  const Gpu* gpu_;
  const CalibrationOptions* options_;
  const ObservationGroup* group_;
  GpuCalibration start_;
};

}  // namespace

std::vector<GroupCalibration> calibrate(const Gpu& gpu,
                                        const std::vector<GpuMeasurement>& measurements,
                                        const CalibrationOptions& options) {
  std::vector<GroupCalibration> results;
  for (const ObservationGroup& group : group_observations(gpu, measurements)) {
    results.push_back(GroupFit{gpu, options, group}.run());
  }
  return results;
}

}  // namespace mapsim
