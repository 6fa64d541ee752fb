// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/arithmetic.hpp"
#include "core/rng.hpp"
#include "validate/judge.hpp"
#include "validate/observations.hpp"
#include "validate/specification.hpp"

namespace mapsim {
namespace {

constexpr double kGain = 1e-3;  // of the cost, for which a fit begins again

using Rows = std::vector<const Observation*>;

FixedKernel fixed_of(const KernelChoice& kernel) {
  return {{kernel.block.m, kernel.block.n, kernel.block.k},
          {kernel.warp.m, kernel.warp.n},
          {kernel.fragment.m, kernel.fragment.n, kernel.fragment.k},
          kernel.stages,
          kernel.split_k,
          kernel.raster,
          kernel.padding,
          kernel.cluster};
}

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
    std::int64_t kernels = 0;
    for (const Observation& row : group.rows) {
      kernels = std::max(kernels, row.kernel_number);
    }
    // One problem, or few of them: kernels are held out.
    const std::int64_t folds = std::max<std::int64_t>(options.folds, 2);
    by_kernel_ = group.problems < folds && kernels >= 2 * folds;
    units_ = by_kernel_ ? kernels : group.problems;
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
    result.by_kernel = by_kernel_;
    if (units_ < std::max<std::int64_t>(options_->folds, 2)) {
      result.refusal = fmt::format(
          "{} problems are too few to hold any out in {} folds, and so are their kernels",
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
    judge(result, check, units_, fixed_kernel());
    return result;
  }

 private:
  // What is held out together.
  std::int64_t unit(const Observation& row) const {
    return by_kernel_ ? row.kernel_number - 1 : row.problem_number;
  }

  // The kernel that is best on average, of those that are known from half of the problems; nothing:
  // of a library, whose kernels have no names.
  std::optional<FixedKernel> fixed_kernel() const {
    std::map<std::int64_t, std::set<std::int64_t>> problems;
    Rows all;
    for (const Observation& row : group_->rows) {
      problems[row.kernel_number].insert(row.problem_number);
      all.push_back(&row);
    }
    const Observation* best = nullptr;
    const std::map<std::int64_t, double> slow = slowdowns_of(all);
    for (const Observation& row : group_->rows) {
      const bool is_known = 2 * std::ssize(problems.at(row.kernel_number)) >= group_->problems;
      if (group_->path && is_known &&
          (best == nullptr || slow.at(row.kernel_number) < slow.at(best->kernel_number))) {
        best = &row;
      }
    }
    return best == nullptr ? std::nullopt : std::optional{fixed_of(best->options.front().kernel)};
  }

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
    const std::vector<std::vector<std::size_t>> rivals = rivals_of(training);
    std::size_t count = training.size();
    for (const auto& group : rivals) {
      count += group.size();
    }
    const Residuals residuals = [&](std::span<const double> values, std::span<double> out) {
      const GpuCalibration calibration = with(values);
      for (std::size_t i = 0; i < training.size(); ++i) {
        out[i] = std::log(predict(*gpu_, calibration, training[i]) / training[i].measured);
      }
      std::size_t next = training.size();
      for (const auto& group : rivals) {
        double mean = 0;
        for (const std::size_t i : group) {
          mean += out[i] / real(std::ssize(group));
        }
        for (const std::size_t i : group) {
          out[next++] = out[i] - mean;
        }
      }
    };
    FitOptions options;  // ratios are of the same rows once more
    options.redundancy = real(static_cast<std::int64_t>(count)) / real(std::ssize(training));
    return from_above_the_limit(parameters, static_cast<std::int64_t>(count), residuals, options);
  }

  // Rows of one problem, of those with two kernels at least. What pairs of them miss of each
  // other's ratio is what each misses of the problem's mean: sum over pairs of (r_i - r_j)^2 =
  // n sum of (r_i - mean)^2.
  static std::vector<std::vector<std::size_t>> rivals_of(const std::vector<Observation>& training) {
    std::map<std::int64_t, std::vector<std::size_t>> by_problem;
    for (std::size_t i = 0; i < training.size(); ++i) {
      by_problem[training[i].problem_number].push_back(i);
    }
    std::vector<std::vector<std::size_t>> result;
    for (auto& [problem, rows] : by_problem) {
      const bool compete = std::any_of(rows.begin(), rows.end(), [&](std::size_t i) {
        return training[i].kernel_number != training[rows.front()].kernel_number;
      });
      if (compete) {
        result.push_back(std::move(rows));
      }
    }
    return result;
  }

  // Where no measurement reaches the power limit as it is modelled at first, energies have no
  // slope: the fit begins again where higher ones explain the measurements better than it did.
  static Fit from_above_the_limit(std::vector<FitParameter> parameters, std::int64_t count,
                                  const Residuals& residuals, const FitOptions& options) {
    Fit first = fit(parameters, count, residuals, {}, options);
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
        cost += soft_l1(r, options.soft_scale) / static_cast<double>(count);
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
    return fit_determined(parameters, count, residuals, options);
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
    std::vector<std::int64_t> fold_of;  // each problem, or kernel of the only one
    std::vector<std::int64_t> units;    // of each row of the above: index into these
    std::int64_t without_kernel = 0;    // rows
  };

  // The same rows, those together that are held out together.
  static std::vector<Prediction> by_unit(std::vector<Prediction> rows,
                                         const std::vector<std::int64_t>& units) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].problem = units[i];
    }
    return rows;
  }

  HeldOut cross_validate() const {
    HeldOut out;
    out.fold_of = deal_folds(units_, options_->folds, options_->seed);
    for (std::int64_t fold = 0; fold < options_->folds; ++fold) {
      Rows training;
      Rows test;
      for (const Observation& row : group_->rows) {
        const bool is_test = out.fold_of[static_cast<std::size_t>(unit(row))] == fold;
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
        out.units.push_back(unit(*row));
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
    const auto score = [&out](const char* name, const std::vector<Prediction>& rows) {
      return CalibrationScore{name, error_metrics(by_unit(rows, out.units)), rank_metrics(rows)};
    };
    result.scores = {score("calibrated", out.calibrated), score("uncalibrated", out.uncalibrated),
                     score("roofline", out.roofline)};
    if (!in_file_.fitted_from.empty()) {
      result.scores.push_back(score("in the file", out.in_file));
    }
    if (result.scores[0].ranks.problems > 0) {
      if (!by_kernel_) {  // a kernel that was held out has no average
        result.scores.push_back({"static best", std::nullopt, rank_metrics(out.fixed)});
      }
      result.scores.push_back({"random", std::nullopt, rank_metrics(out.random)});
    }
    confide(out, result);
  }

  // How far to trust what is predicted, from the held-out problems.
  static void confide(const HeldOut& out, GroupCalibration& result) {
    const Coverage interval = coverage(by_unit(out.calibrated, out.units), out.fold_of);
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

  const Gpu* gpu_;
  const CalibrationOptions* options_;
  const ObservationGroup* group_;
  GpuCalibration start_;
  GpuCalibration in_file_;
  bool by_kernel_ = false;
  std::int64_t units_ = 0;
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
