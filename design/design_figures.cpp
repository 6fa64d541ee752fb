// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "campaign/report_energy.hpp"
#include "core/substitute.hpp"
#include "design/search.hpp"
#include "report/chart.hpp"
#include "report/designs.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

std::string name_of(const BestDesign& design) {
  std::string name = fmt::format("{}: {}", design.number, design.arch.name);
  for (const Setting& setting : design.settings) {
    name += fmt::format(", {} {}", short_path(setting.path), flow_text(setting.value));
  }
  return name;
}

std::string remark_of(const DesignOptions& options, const DesignAnswer& result) {
  const std::string designs = count_text(result.counts.designs);
  return result.proven
             ? fmt::format(
                   "proven: no other of the {} designs {}is better{}", designs,
                   options.limits.any() ? "keeps the limits and " : "",
                   options.gap > 0 ? fmt::format(" by more than {}", percent(options.gap)) : "")
             : fmt::format("stopped early: the best found of {} designs", designs);
}

}  // namespace

std::string design_svg(const Campaign& campaign, const DesignOptions& options,
                       const DesignAnswer& result) {
  FoundDesigns found;
  found.objective = to_string(options.objective);
  found.function = options.objective.function;
  found.remark = remark_of(options, result);
  for (const BestDesign& design : result.designs) {
    found.designs.push_back({name_of(design), design.value, design.area});
  }
  if (options.wanted == Wanted::kFront) {
    found.title = fmt::format("{}: {} against area", campaign.name, found.objective);
    return standalone(design_front_svg(found));
  }
  found.title = fmt::format("{}: one step from the best design", campaign.name);
  const double area = result.best() != nullptr ? result.best()->area.value_or(0) : 0;
  for (const AxisStep& step : result.steps) {
    if (std::isfinite(step.most)) {
      found.steps.push_back(
          {short_path(step.name), step.value, step.most - 1,
           area > 0 && step.area ? std::optional{*step.area / area - 1} : std::nullopt,
           step.excluded.empty()});
    }
  }
  return standalone(design_steps_svg(found));
}

}  // namespace mapsim
