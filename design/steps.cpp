// SPDX-License-Identifier: Apache-2.0
// What one step along each axis changes of the best design.
#include <cmath>

#include "core/diagnostic.hpp"
#include "core/substitute.hpp"
#include "design/branch.hpp"

namespace mapsim {

namespace {

// Searched until the objective is known to this share: a step is worth reading to a tenth of a
// percent.
constexpr double kFine = 1e-3;

std::string value_text(const Settings& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text += (text.empty() ? "" : ", ") + flow_text(setting.value);
  }
  return text;
}

}  // namespace

void DesignSearch::find_steps() {
  const BestDesign& best = result_.designs.front();
  const std::vector<DesignAxis>& axes = spaces_[best.space].axes();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    Values values = best.values;
    if (best.values[a] > 0) {
      values[a] = best.values[a] - 1;
      result_.steps.push_back(step_to(best, values, a));
    }
    if (best.values[a] + 1 < axes[a].values.size()) {
      values[a] = best.values[a] + 1;
      result_.steps.push_back(step_to(best, values, a));
    }
  }
}

// After the end of the search's time only from what it knows.
AxisStep DesignSearch::step_to(const BestDesign& best, const Values& values, std::size_t axis) {
  const DesignSpace& space = spaces_[best.space];
  const DesignAxis& changed = space.axes()[axis];
  AxisStep step{changed.name, value_text(changed.values[values[axis]])};
  std::optional<Arch> arch;
  try {
    arch = space.arch(values);
  } catch (const ConfigError&) {
    step.excluded = "its values contradict each other";
    return step;
  }
  step.area = optima_.area(*arch);
  const DesignMachine design = machine(best.space, single(values), {*arch, *arch});
  const auto is_fine = [](const Assessment& known) {
    return known.value <= known.lower * (1 + kFine);
  };
  auto found =
      over() ? std::nullopt : value_.find(design, {is_fine}, [this] { return seconds_left(); });
  const bool fits = found && !std::isinf(found->value);
  if (fits && is_beyond(options_.limits, *found)) {
    found = best_within(design, *found, kNoMapping);
  }
  if (!found) {
    found = value_.known(design);
  }
  const bool is_beyond = !std::isinf(found->value) && mapsim::is_beyond(options_.limits, *found);
  step.least = found->lower / best.value;
  step.most = is_beyond ? kNoMapping : found->value / best.value;
  if (std::isinf(found->lower)) {
    step.excluded =
        fits ? "no mappings keep the limits on energy, latency and power" : "a layer does not fit";
  } else if (options_.limits.area && step.area && *step.area > options_.limits.area->count()) {
    step.excluded = "more area than allowed";
  }
  return step;
}

}  // namespace mapsim
