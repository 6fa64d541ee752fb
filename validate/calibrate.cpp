// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/rng.hpp"
#include "validate/observations.hpp"
#include "validate/specification.hpp"

namespace mapsim {
namespace {

// A regret that differs by less is the same. Two timings of one kernel differ by 1 to 2 % (L20,
// three days), their mean over some thirty problems by 0.25 %, twice that at 95 %.
constexpr double kRegretSlack = 0.005;
constexpr double kHopeless = 0.4;  // held-out MAPE with which nobody can choose or plan
constexpr double kGain = 1e-3;     // of the cost, for which a fit begins again

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
  // `launch`: what other groups of the GPU say of it.
  GroupFit(const Gpu& gpu, const CalibrationOptions& options, const ObservationGroup& group,
           std::optional<Seconds> launch = std::nullopt)
      : gpu_{&gpu}, options_{&options}, group_{&group} {
    // A library's kernels are of several paths; one calibration serves them all.
    in_file_ = gpu.calibration(group.precision, group.path.value_or(GpuPath::kMma));
    // An earlier fit is no prior: it may have seen these very rows.
    const bool was_fitted =
        std::any_of(gpu.calibrations.begin(), gpu.calibrations.end(),
                    [](const GpuCalibration& c) { return !c.fitted_from.empty(); });
    start_ = was_fitted ? GpuCalibration{} : in_file_;
    start_.precision = group.precision;
    start_.path = group.path;
    start_.launch = launch.value_or(start_.launch);
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
    const std::vector<Observation> ready = with_options(all);
    const SpecificationCheck check = check_specification(*gpu_, start_, group_->path, ready);
    const Fit fitted = fit_rows(ready);
    for (std::size_t i = 0; i < calibration_fields().size(); ++i) {
      const CalibrationField& field = calibration_fields()[i];
      result.parameters.push_back({field.name, field.get(start_), fitted.parameters[i]});
      field.set(result.fitted, fitted.parameters[i].value);
    }
    result.fitted.fitted_from = options_->source;
    const auto [shortest, longest] = std::minmax_element(
        group_->rows.begin(), group_->rows.end(),
        [](const Observation& a, const Observation& b) { return a.measured < b.measured; });
    result.fitted.shortest = Seconds{shortest->measured};
    result.fitted.longest = Seconds{longest->measured};
    result.reached = check.reached;
    judge(result, check);
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

  // At most as many as a fit sees, those that a kernel can run.
  std::vector<Observation> with_options(const Rows& rows) const {
    std::vector<Observation> ready;
    for (const Observation* row : draw(rows, options_->fit_rows, options_->seed)) {
      ready.push_back(*row);
      if (!fill_options(*gpu_, start_, *options_, ready.back())) {
        ready.pop_back();
      }
    }
    return ready;
  }

  Fit fit_rows(const std::vector<Observation>& training) const {
    std::vector<FitParameter> parameters;
    for (const CalibrationField& field : calibration_fields()) {
      parameters.push_back({field.name, field.get(start_), field.lower, field.upper, field.prior});
      // Other paths share it: what it makes up for here would be wrong there.
      parameters.back().by_itself = parameters.back().name == "launch";
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
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].prior_at = parameters[i].start;
      parameters[i].start = best[i];
    }
    return fit_determined(parameters, count, residuals);
  }

  static std::map<std::int64_t, double> slowdowns_of(const Rows& training) {
    std::vector<Prediction> measured;
    for (const Observation* row : training) {
      measured.push_back({row->problem_number, row->kernel_number, row->measured, 1});
    }
    return slowdowns(measured);
  }

  struct HeldOut {
    std::vector<Prediction> calibrated, uncalibrated, roofline, in_file, fixed, random;
    std::vector<std::int64_t> fold_of;  // each problem
    std::int64_t without_kernel = 0;    // rows
  };

  HeldOut cross_validate() const {
    HeldOut out;
    out.fold_of = deal_folds(group_->problems, options_->folds, options_->seed);
    for (std::int64_t fold = 0; fold < options_->folds; ++fold) {
      Rows training;
      Rows test;
      for (const Observation& row : group_->rows) {
        const bool is_test = out.fold_of[static_cast<std::size_t>(row.problem_number)] == fold;
        (is_test ? test : training).push_back(&row);
      }
      const GpuCalibration fitted = with(fit_rows(with_options(training)).values());
      const std::map<std::int64_t, double> slow = slowdowns_of(training);
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
        add(out.in_file, predict(*gpu_, in_file_, ready));
        add(out.roofline, roofline_time(*gpu_, ready, group_->path));
        const auto known = slow.find(row->kernel_number);
        add(out.fixed, known == slow.end() ? kUnknownSlowdown : known->second);
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
    if (!in_file_.fitted_from.empty()) {
      result.scores.push_back(
          {"in the file", error_metrics(out.in_file), rank_metrics(out.in_file)});
    }
    if (result.scores[0].ranks.problems > 0) {
      result.scores.push_back({"static best", std::nullopt, rank_metrics(out.fixed)});
      result.scores.push_back({"random", std::nullopt, rank_metrics(out.random)});
    }
    confide(out, result);
  }

  // How far to trust what is predicted, from the held-out problems.
  static void confide(const HeldOut& out, GroupCalibration& result) {
    const Coverage interval = coverage(out.calibrated, out.fold_of);
    result.fitted.error = interval.half_width;
    result.covered = interval.covered;
    const std::optional<double> resolution = resolution_of(out.calibrated);
    result.resolution_fitted = resolution.has_value();
    result.fitted.resolution = resolution.value_or(GpuCalibration{}.resolution);
    std::map<int, std::vector<Prediction>> decades;
    std::map<int, double> within;
    for (std::size_t i = 0; i < out.calibrated.size(); ++i) {
      const int power = static_cast<int>(std::floor(std::log10(out.calibrated[i].measured)));
      decades[power].push_back(out.calibrated[i]);
      within[power] += interval.within[i] ? 1 : 0;
    }
    for (const auto& [power, predictions] : decades) {
      result.decades.push_back(std::pow(10.0, power));
      result.by_decade.push_back(error_metrics(predictions));
      result.covered_by_decade.push_back(within[power] / static_cast<double>(predictions.size()));
    }
  }

  // Refusals and warnings.
  static void judge(GroupCalibration& result, const SpecificationCheck& check) {
    const CalibrationScore& after = result.scores[0];
    const CalibrationScore& before = result.scores[1];
    const double rise = after.ranks.top1 - before.ranks.top1;
    if (const auto wrong = contradiction(check)) {
      result.refusal = wrong;
    } else if (const auto doubt = suspicion(check)) {
      result.warnings.push_back(*doubt);
    }
    if (!result.refusal) {
      result.refusal = refusal_of(result, rise);
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

  static std::optional<std::string> refusal_of(const GroupCalibration& result, double rise) {
    const CalibrationScore& after = result.scores[0];
    const CalibrationScore& before = result.scores[1];
    const ErrorMetrics& roofline = *result.scores[2].errors;
    const auto is_known = [](const CalibratedParameter& p) { return !p.fitted.fixed; };
    const auto known = std::count_if(result.parameters.begin(), result.parameters.end(), is_known);
    if (known == 0) {
      return fmt::format("{} rows of {} problems determine none of the parameters", result.rows,
                         result.problems);
    }
    if (result.problems < 2 * known) {
      return fmt::format("{} problems are too few for {} parameters: twice as many at least",
                         result.problems, known);
    }
    if (rise > kRegretSlack) {
      return fmt::format(
          "held-out top-1 regret rises from {:.4f} to {:.4f}: the fit ranks worse than "
          "what there was",
          before.ranks.top1, after.ranks.top1);
    }
    if (after.errors->mape > before.errors->mape) {
      return fmt::format("held-out MAPE rises from {:.1f} % to {:.1f} %", 100 * before.errors->mape,
                         100 * after.errors->mape);
    }
    if (after.errors->mape > kHopeless) {
      return fmt::format(
          "a held-out MAPE of {:.0f} % (more than {:.0f} %): the model of this file does not "
          "describe these measurements",
          100 * after.errors->mape, 100 * kHopeless);
    }
    if (after.errors->mape > roofline.mape) {
      return fmt::format("held-out MAPE {:.1f} %, the roofline's is {:.1f} %",
                         100 * after.errors->mape, 100 * roofline.mape);
    }
    return std::nullopt;
  }

  // Of the other rates no specification says how large they are. That a rate is too high is proven
  // by measurements alone (check_specification): a fit may make up for what the model charges
  // twice.
  static void warn_of_rate(const CalibratedParameter& parameter, GroupCalibration& result) {
    if (parameter.name != "mma" && parameter.name != "dram") {
      return;
    }
    const double interval = std::exp(1.96 * parameter.fitted.relative_error);
    if (parameter.fitted.value * interval < 0.6) {
      result.warnings.push_back(
          fmt::format("spec suspicious: {} = {:.3f} is below 0.6 by more than its error; check the "
                      "figure of the architecture file that it scales",
                      parameter.name, parameter.fitted.value));
    } else if (parameter.fitted.value > 1.05 * interval) {
      result.warnings.push_back(
          fmt::format("{} = {:.3f} is above 1: the model charges too much elsewhere, or the figure "
                      "that it scales is too low",
                      parameter.name, parameter.fitted.value));
    }
  }

  static void warn_of_parameters(GroupCalibration& result) {
    std::string undetermined;
    std::string together;
    for (const CalibratedParameter& parameter : result.parameters) {
      const FittedParameter& fitted = parameter.fitted;
      if (!fitted.fixed && !fitted.at_bound && !fitted.determined) {
        together += (together.empty() ? "" : ", ") + parameter.name;
      }
      if (fitted.fixed) {
        undetermined += (undetermined.empty() ? "" : ", ") + parameter.name;
        continue;
      }
      if (fitted.at_bound) {
        result.warnings.push_back(
            fmt::format("{} stands at its bound {:.3g}: the model lacks something that it makes "
                        "up for, or the figure that it scales is wrong",
                        parameter.name, fitted.value));
      }
      warn_of_rate(parameter, result);
    }
    if (!together.empty()) {
      result.warnings.push_back(
          fmt::format("known only together, not each by itself: {}; without them the loss is a "
                      "quarter higher at least",
                      together));
    }
    if (!undetermined.empty()) {
      result.warnings.push_back(fmt::format(
          "not determined by these measurements, left as they are without: {}", undetermined));
    }
  }

  const Gpu* gpu_;
  const CalibrationOptions* options_;
  const ObservationGroup* group_;
  GpuCalibration start_;
  GpuCalibration in_file_;
};

}  // namespace

namespace {

const CalibratedParameter* launch_of(const GroupCalibration& group) {
  for (const CalibratedParameter& parameter : group.parameters) {
    if (parameter.name == "launch") {
      return &parameter;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<Seconds> common_launch(const std::vector<GroupCalibration>& groups) {
  double sum = 0;
  double weights = 0;
  for (const GroupCalibration& group : groups) {
    const CalibratedParameter* launch = launch_of(group);
    if (!group.refusal && launch != nullptr && launch->fitted.determined) {
      const double error = std::max(launch->fitted.relative_error, 1e-3);
      sum += std::log(launch->fitted.value) / (error * error);
      weights += 1 / (error * error);
    }
  }
  return weights > 0 ? std::optional{Seconds{std::exp(sum / weights)}} : std::nullopt;
}

std::vector<GroupCalibration> calibrate(const Gpu& gpu,
                                        const std::vector<GpuMeasurement>& measurements,
                                        const CalibrationOptions& options) {
  const std::vector<ObservationGroup> groups = group_observations(gpu, measurements);
  std::vector<GroupCalibration> results;
  for (const ObservationGroup& group : groups) {
    results.push_back(GroupFit{gpu, options, group}.run());
  }
  if (const std::optional<Seconds> launch = common_launch(results)) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const CalibratedParameter* own = launch_of(results[i]);
      if (own != nullptr && own->fitted.fixed) {
        results[i] = GroupFit{gpu, options, groups[i], launch}.run();
      }
    }
  }
  return results;
}

}  // namespace mapsim
