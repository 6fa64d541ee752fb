// SPDX-License-Identifier: Apache-2.0
#include "report/designs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/plots.hpp"

namespace mapsim {

namespace {

constexpr double kPicojoulesPerJoule = 1e12;

// The ends of one bar: the steps of an axis that lower a figure, and raise it, most.
template <class Change>
TornadoSwing swing_of(const FoundDesigns& found, const std::string& axis, const Change& change_of) {
  TornadoSwing swing;
  for (const DesignStep& step : found.steps) {
    if (step.axis != axis) {
      continue;
    }
    const TornadoEnd end{change_of(step), step.value + (step.is_allowed ? "" : " (not allowed)"),
                         ""};
    if (end.change < swing.low.change) {
      swing.low = end;
    } else if (end.change > swing.high.change) {
      swing.high = end;
    }
  }
  return swing;
}

}  // namespace

std::string FoundDesign::numbered() const { return fmt::format("{}: {}", number, name); }

double FoundDesigns::to_si(double value) const {
  return function.scaled(value, kPicojoulesPerJoule, 1);
}

std::string FoundDesigns::si_unit() const { return function.unit("J", "s", "\u00b7"); }

std::string design_front_svg(const FoundDesigns& found) {
  std::vector<FrontDot> dots;
  std::vector<double> across;
  std::vector<double> up;
  for (const FoundDesign& design : found.designs) {
    if (design.area && *design.area > 0) {
      const double value = found.to_si(design.value);
      dots.push_back({*design.area, value,
                      fmt::format("{}: {:.4g} mm\u00b2, {}", design.name, *design.area,
                                  si_text(value, found.si_unit(), 4)),
                      fmt::format("{}", design.number)});
      across.push_back(*design.area);
      up.push_back(value);
    }
  }
  const std::string remark = dots.size() == found.designs.size()
                                 ? found.remark
                                 : found.remark + "; designs without a stated area are left out";
  const FrontChart chart{{found.title, remark},
                         ChartAxis::around("area", "mm\u00b2", across),
                         ChartAxis::around(found.objective, found.si_unit(), up),
                         dots};
  return front_svg(found.title, chart);
}

std::string design_steps_svg(const FoundDesigns& found) {
  std::vector<std::string> axes;
  for (const DesignStep& step : found.steps) {
    if (std::find(axes.begin(), axes.end(), step.axis) == axes.end()) {
      axes.push_back(step.axis);
    }
  }
  const bool has_areas = std::any_of(found.steps.begin(), found.steps.end(),
                                     [](const DesignStep& step) { return step.area_change; });
  std::vector<TornadoPanel> panels{{found.objective, {}}};
  if (has_areas) {
    panels.push_back({"area", {}});
  }
  for (const std::string& axis : axes) {
    panels[0].swings.push_back(
        swing_of(found, axis, [](const DesignStep& step) { return step.change; }));
    if (has_areas) {
      panels[1].swings.push_back(swing_of(
          found, axis, [](const DesignStep& step) { return step.area_change.value_or(0); }));
    }
  }
  return tornado_svg(found.title, axes, panels);
}

}  // namespace mapsim
