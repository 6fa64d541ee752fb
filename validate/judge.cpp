// SPDX-License-Identifier: Apache-2.0
#include "validate/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mapsim {
namespace {

// A regret that differs by less is the same. Two timings of one kernel differ by 1 to 2 % (L20,
// three days), their mean over some thirty problems by 0.25 %, twice that at 95 %.
constexpr double kRegretSlack = 0.005;
constexpr double kHopeless = 0.4;  // held-out MAPE with which nobody can choose or plan

std::optional<std::string> refusal_of(const GroupCalibration& result, std::int64_t held_out,
                                      double rise) {
  const CalibrationScore& after = result.scores[0];
  const CalibrationScore& before = result.scores[1];
  const ErrorMetrics& roofline = *result.scores[2].errors;
  const auto is_known = [](const CalibratedParameter& p) { return !p.fitted.fixed; };
  const auto known = std::count_if(result.parameters.begin(), result.parameters.end(), is_known);
  if (known == 0) {
    return fmt::format("{} rows of {} problems determine none of the parameters", result.rows,
                       result.problems);
  }
  if (held_out < 2 * known) {
    return fmt::format("{} {} are too few for {} parameters: twice as many at least", held_out,
                       result.by_kernel ? "kernels" : "problems", known);
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
void warn_of_rate(const CalibratedParameter& parameter, GroupCalibration& result) {
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

void warn_of_parameters(GroupCalibration& result) {
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
          fmt::format("{} is at its bound {:.3g}: it makes up for something that the model lacks, "
                      "or the figure that it scales is wrong",
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

// A fit that chooses worse than a draw, or than somebody who knows no model, is good for times
// only.
void warn_of_choice(GroupCalibration& result, const std::optional<FixedKernel>& fixed) {
  const double own = result.scores[0].ranks.top1;
  for (const CalibrationScore& score : result.scores) {
    const bool is_fixed = score.name == "static best";
    if ((!is_fixed && score.name != "random") || own <= score.ranks.top1) {
      continue;
    }
    const std::string who =
        is_fixed ? "the kernel that is best on average (static best)" : "a kernel drawn by chance";
    if (fixed && own > score.ranks.top1 + kRegretSlack) {
      result.fitted.best_fixed = fixed;
      result.warnings.push_back(fmt::format(
          "good for times only: {} has a held-out top-1 regret of {:.4f}, the model {:.4f}; search "
          "offers the kernel that is best on average first",
          who, score.ranks.top1, own));
    } else {
      result.warnings.push_back(
          fmt::format("{} has a held-out top-1 regret of {:.4f}, the model {:.4f}: to choose a "
                      "kernel, these measurements need no model",
                      who, score.ranks.top1, own));
    }
  }
}

}  // namespace

void judge(GroupCalibration& result, const SpecificationCheck& check, std::int64_t held_out,
           const std::optional<FixedKernel>& fixed) {
  const CalibrationScore& after = result.scores[0];
  const CalibrationScore& before = result.scores[1];
  const double rise = after.ranks.top1 - before.ranks.top1;
  if (const auto wrong = contradiction(check)) {
    result.refusal = wrong;
  } else if (const auto doubt = suspicion(check)) {
    result.warnings.push_back(*doubt);
  }
  if (!result.refusal) {
    result.refusal = refusal_of(result, held_out, rise);
  }
  if (rise > 0 && rise <= kRegretSlack) {
    result.warnings.push_back(
        fmt::format("held-out top-1 regret rose by {:.4f}, within noise {}", rise, kRegretSlack));
  }
  warn_of_choice(result, fixed);
  warn_of_parameters(result);
}

}  // namespace mapsim
