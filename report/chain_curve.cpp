// SPDX-License-Identifier: Apache-2.0
#include "report/chain_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/quantity_text.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/front.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "report/tree.hpp"

namespace mapsim {

namespace {

struct Series {
  const char* name;
  const char* stroke;
  const ChainCurve* curve;
};
std::array<Series, 3> series_of(const ChainCurves& curves) {
  return {{{"layer by layer, spilled", kMuted, &curves.spilled},
           {"layer by layer, on chip", kSignal, &curves.on_chip},
           {"best", kAccent, &curves.fused}}};
}

double value_at(const ChainCurves& curves, const ChainStep& step) {
  return value_of(curves.objective, *step.result.cost);
}
std::string value_text(const ChainCurves& curves, const ChainStep& step) {
  return objective_text(curves.objective, value_at(curves, step));
}
// Half of the least capacity that is more than nothing: there a logarithmic scale has nothing [B].
double least_bytes(const ChainCurves& curves) {
  double least = 2;
  bool is_first = true;
  for (const Series& series : series_of(curves)) {
    for (const ChainStep& step : series.curve->steps) {
      const double bytes = static_cast<double>(step.capacity.count()) / 8;
      least = bytes > 0 && (is_first || bytes < least) ? bytes : least;
      is_first = is_first && !(bytes > 0);
    }
  }
  return least / 2;
}

// The step that holds with so much; nullptr: nothing fits, or is known.
const ChainStep* step_at(const ChainCurve& curve, Bits capacity) {
  const auto step = std::find_if(curve.steps.begin(), curve.steps.end(),
                                 [&](const ChainStep& one) { return one.capacity <= capacity; });
  return step == curve.steps.end() ? nullptr : &*step;
}

}  // namespace

std::string chain_curves_text(const Arch& arch, const EinsumChain& chain,
                              const ChainCurves& curves) {
  std::string text = chain_title_text(arch, chain) + "\n";
  text += fmt::format("least {} with a capacity of {}\n", to_string(curves.objective),
                      capacity_name(arch, curves.of));
  std::vector<Bits> capacities;
  for (const Series& series : series_of(curves)) {
    for (const ChainStep& step : series.curve->steps) {
      capacities.push_back(step.capacity);
    }
  }
  std::sort(capacities.begin(), capacities.end());
  capacities.erase(std::unique(capacities.begin(), capacities.end()), capacities.end());
  std::vector<Row> rows{{"from", "spilled", "on chip", "best", ""}};
  for (std::size_t i = capacities.size(); i-- > 0;) {
    Row row{bytes_text(capacities[i])};
    for (const Series& series : series_of(curves)) {
      const ChainStep* step = step_at(*series.curve, capacities[i]);
      row.push_back(step != nullptr ? value_text(curves, *step) : "");
    }
    const ChainStep* best = step_at(curves.fused, capacities[i]);
    const ChainStep* apart = step_at(curves.spilled, capacities[i]);
    const double saved = best != nullptr && apart != nullptr
                             ? 100 * (1 - value_at(curves, *best) / value_at(curves, *apart))
                             : 0;
    row.push_back(saved < 0.05 ? "" : fmt::format("-{:.1f} %", saved));
    rows.push_back(std::move(row));
  }
  text += fmt::format("{}\nthe energy per access of {} is taken to be the same at every capacity\n",
                      table(rows), capacity_name(arch, curves.of));
  bool complete = true;
  std::int64_t searches = 0;
  double seconds = 0;
  for (const Series& series : series_of(curves)) {
    complete = complete && series.curve->complete;
    searches += series.curve->searches;
    seconds += series.curve->seconds;
  }
  text += complete
              ? "proven: at each capacity, no mapping tree is better than the row for the largest "
                "capacity not above it\n"
              : "stopped early: nothing is known of capacities below the last line of a column\n";
  return text + fmt::format("{} searches in {:.2f} s\n", grouped(searches), seconds);
}

std::string chain_curves_svg(const Arch& arch, const EinsumChain& chain,
                             const ChainCurves& curves) {
  const ObjectiveFunction& function = curves.objective.function;
  const auto up_at = [&](const ChainStep& step) {
    constexpr double kPicojoulesInJoule = 1e12;
    return function.scaled(value_at(curves, step), kPicojoulesInJoule, arch.clock.count());
  };
  constexpr double kHeight = 300;
  std::vector<double> across;
  std::vector<double> up;
  const auto place_of = [least = least_bytes(curves)](const ChainStep& step) {
    return std::max(static_cast<double>(step.capacity.count()) / 8, least);
  };
  for (const Series& series : series_of(curves)) {
    for (const ChainStep& step : series.curve->steps) {
      across.push_back(place_of(step));
      up.push_back(up_at(step));
    }
  }
  const std::string title =
      fmt::format("{} on {}: least {} with a capacity of {}", chain.name, arch.name,
                  to_string(curves.objective), capacity_name(arch, curves.of));
  Canvas canvas;
  const double top = draw_head(canvas, {title, "mapping trees with perfect factors"}) + 24;
  ChartAxis y = ChartAxis::around(to_string(function), function.unit("J", "s", "\u00b7"), up);
  const Box box = plot_box(y, top, kHeight);
  const Plot plot{box, ChartAxis::of_bytes("capacity of " + capacity_name(arch, curves.of), across),
                  y};
  draw_axes(canvas, plot);
  double name_at = box.x + 8;
  canvas.open_group(kMarks);
  for (const Series& series : series_of(curves)) {
    std::vector<Point> line;
    double right = plot.x.high();
    for (const ChainStep& step : series.curve->steps) {
      line.push_back(plot.at(right, up_at(step)));
      line.push_back(plot.at(place_of(step), up_at(step)));
      right = place_of(step);
    }
    canvas.polyline(line, {series.stroke, 2, ""});
    for (const ChainStep& step : series.curve->steps) {
      canvas.mark_dot(plot.at(place_of(step), up_at(step)), 2.5, series.stroke,
                      fmt::format("{}: {} from {}", series.name, value_text(curves, step),
                                  bytes_text(step.capacity)));
    }
    canvas.words({name_at, top - 8}, series.name, {.fill = series.stroke});
    name_at += text_width(series.name, 11) + 24;
  }
  canvas.close_group();
  return standalone(canvas.finish(title));
}

}  // namespace mapsim
