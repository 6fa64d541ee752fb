// SPDX-License-Identifier: Apache-2.0
#include "report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "report/plots_steps.hpp"

namespace mapsim {

namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// ----- bars -----

struct RowLayout {
  double pitch, bar, letters;
};
RowLayout layout_of(std::size_t rows) {
  return rows > 40 ? RowLayout{12, 8, 8.5} : RowLayout{17, 11, 10.5};
}

constexpr double kOverhang = 60;  // px that names of parts may reach beyond the bars

void draw_bar_axis(Canvas& canvas, const BarPanel& panel, const ChartAxis& axis, const Box& box) {
  const auto x = [&](double value) { return box.x + box.width * axis.place(value); };
  for (const ChartAxis::Tick& tick : axis.ticks_along(box.width, 55)) {
    canvas.polyline(std::array{Point{x(tick.value), box.y}, Point{x(tick.value), box.bottom()}},
                    {kGrid, 0.7, ""});
    canvas.words({x(tick.value), box.bottom() + 13}, tick.text, {Anchor::kMiddle, 10, kMuted});
  }
  canvas.polyline(std::array{Point{box.x, box.y}, Point{box.x, box.bottom()}}, {kMuted, 0.8, ""});
  canvas.words({box.x + box.width / 2, box.bottom() + 29}, axis.title(), {Anchor::kMiddle});
  // Names stand over the first bar that has something.
  const auto first = std::find_if(panel.values.begin(), panel.values.end(),
                                  [](const auto& values) { return sum(values) > 0; });
  if (panel.parts.size() < 2 || first == panel.values.end()) {
    return;
  }
  std::vector<SegmentName> names;
  double from = 0;
  for (std::size_t part = 0; part < panel.parts.size(); ++part) {
    names.push_back({x(from + (*first)[part] / 2), panel.parts[part].name, panel.parts[part].fill,
                     (*first)[part] > 0});
    from += (*first)[part];
  }
  draw_segment_names(canvas, names, box.x, box.right() + kOverhang, box.y);
}

std::vector<std::string> part_names(const BarPanel& panel) {
  std::vector<std::string> names;
  for (const BarPart& part : panel.parts) {
    names.push_back(part.name);
  }
  return names;
}

// Words behind bars take at most so much of a panel; bars have the rest.
constexpr double kMostEnds = 0.45;
double ends_width(const BarPanel& panel, double letters, double width) {
  double words = 0;
  for (const std::string& end : panel.ends) {
    words = std::max(words, text_width(end, letters));
  }
  return std::min(words, kMostEnds * width);
}

void draw_panel(Canvas& canvas, const std::vector<std::string>& rows, const BarPanel& panel,
                const Box& box) {
  const RowLayout layout = layout_of(rows.size());
  double most = 0;
  for (const std::vector<double>& values : panel.values) {
    most = std::max(most, sum(values));
  }
  const double words = ends_width(panel, layout.letters - 1, box.width);
  const Box bars{box.x, box.y, box.width - words - 8, box.height};
  const ChartAxis axis = ChartAxis::from_zero(panel.quantity, panel.unit, most);
  draw_bar_axis(canvas, panel, axis, bars);
  const auto x = [&](double value) { return bars.x + bars.width * axis.place(value); };
  canvas.open_group(kMarks);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double y =
        box.y + layout.pitch * static_cast<double>(row) + (layout.pitch - layout.bar) / 2;
    double from = 0;
    for (std::size_t part = 0; part < panel.parts.size(); ++part) {
      const double value = panel.values[row].empty() ? 0 : panel.values[row][part];
      if (value > 0) {
        canvas.mark_bar({x(from), y, x(from + value) - x(from), layout.bar}, panel.parts[part].fill,
                        fmt::format("{}, {}: {}", rows[row], panel.parts[part].name,
                                    si_text(value, panel.unit, 4)));
      }
      from += value;
    }
  }
  canvas.close_group();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double y = box.y + layout.pitch * (static_cast<double>(row) + 0.5);
    if (!panel.needles.empty() && panel.needles[row] >= 0) {
      const double at = x(panel.needles[row]);
      canvas.polyline(
          std::array{Point{at, y - layout.pitch / 2 + 1}, Point{at, y + layout.pitch / 2 - 1}},
          {kInk, 1.4, ""});
    }
    canvas.words({x(sum(panel.values[row])) + 5, y + layout.letters * 0.35}, panel.ends[row],
                 {Anchor::kStart, layout.letters - 1, kMuted, false, 0, words});
  }
}

// ----- designs -----

bool have_areas(const std::vector<DesignPoint>& points) {
  return std::all_of(points.begin(), points.end(),
                     [](const DesignPoint& point) { return point.area.has_value(); });
}

using Measure = double (*)(const DesignPoint&);
double energy_of(const DesignPoint& point) { return point.energy; }
double seconds_of(const DesignPoint& point) { return point.seconds; }
double area_of(const DesignPoint& point) { return *point.area; }

std::vector<double> all_of(const std::vector<DesignPoint>& points, Measure measure) {
  std::vector<double> values;
  for (const DesignPoint& point : points) {
    values.push_back(measure(point));
  }
  return values;
}

}  // namespace

std::string bars_svg(const std::string& label, const std::vector<std::string>& rows,
                     const std::vector<BarPanel>& panels) {
  constexpr double kMostName = 250;
  constexpr double kGap = 24;
  Canvas canvas;
  const RowLayout layout = layout_of(rows.size());
  double names = 40;
  for (const std::string& row : rows) {
    names = std::max(names, std::min(kMostName, text_width(row, layout.letters)));
  }
  const double room = kFigureWidth - names - 8 - kGap * static_cast<double>(panels.size() - 1);
  double top = 8;
  for (const BarPanel& panel : panels) {
    const double width = room * panel.share;
    const double bars = width - ends_width(panel, layout.letters - 1, width) - 8;
    if (panel.parts.size() > 1) {
      top = std::max(top, 8 + segment_names_height(part_names(panel), bars + kOverhang));
    }
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double y = top + layout.pitch * (static_cast<double>(row) + 0.5);
    canvas.words({names, y + layout.letters * 0.35}, rows[row],
                 {Anchor::kEnd, layout.letters, kInk, false, 0, names});
  }
  double x = names + 8;
  for (const BarPanel& panel : panels) {
    const Box box{x, top, room * panel.share, layout.pitch * static_cast<double>(rows.size())};
    draw_panel(canvas, rows, panel, box);
    x = box.right() + kGap;
  }
  return canvas.finish(label);
}

// Designs in the order of their energy: one is beaten if one before it is as good in both of the
// other figures. Of those before it the ones that count are steps, later and smaller.
void mark_front(std::vector<DesignPoint>& points) {
  const bool areas = have_areas(points);
  const auto figures = [areas](const DesignPoint& point) {
    std::array all{point.energy, point.seconds, areas ? *point.area : 0};
    for (double& figure : all) {  // what is no number has no order
      figure = std::isnan(figure) ? std::numeric_limits<double>::infinity() : figure;
    }
    return all;
  };
  std::vector<DesignPoint*> sorted;
  for (DesignPoint& point : points) {
    sorted.push_back(&point);
  }
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto* a, const auto* b) { return figures(*a) < figures(*b); });
  std::map<double, double> steps;  // seconds, the least area so far
  const DesignPoint* last = nullptr;
  for (DesignPoint* const point : sorted) {
    const auto [energy, seconds, area] = figures(*point);
    if (last != nullptr && figures(*last) == figures(*point)) {
      point->on_front = last->on_front;  // equals do not beat each other
      continue;
    }
    last = point;
    auto next = steps.upper_bound(seconds);
    point->on_front = next == steps.begin() || std::prev(next)->second > area;
    if (point->on_front) {
      while (next != steps.end() && next->second >= area) {
        next = steps.erase(next);
      }
      steps[seconds] = area;
    }
  }
}

std::string designs_svg(const std::string& label, const std::vector<DesignPoint>& points) {
  Canvas canvas;
  const ChartAxis energy = ChartAxis::around("energy", "J", all_of(points, energy_of));
  const ChartAxis latency = ChartAxis::around("latency", "s", all_of(points, seconds_of));
  const auto draw = [&](const Plot& plot, Measure x, Measure y) {
    std::vector<StepMark> marks;
    for (const DesignPoint& point : points) {
      marks.push_back(
          {{x(point), y(point)}, point.name, point.title, point.on_front, point.chosen});
    }
    draw_steps_and_marks(canvas, plot, marks);
  };
  if (!have_areas(points)) {
    const Plot plot{plot_box(energy, 8, 330), latency, energy};
    draw_axes(canvas, plot);
    draw(plot, seconds_of, energy_of);
    return canvas.finish(label);
  }
  const ChartAxis area = ChartAxis::around("area", "mm²", all_of(points, area_of));
  constexpr double kGap = 28;
  constexpr double kHigh = 235;
  const Box row = plot_box(energy, 8, kHigh);
  const double side = (row.width - kGap) / 2;
  const Plot first{{row.x, row.y, side, kHigh}, latency, energy};
  const Plot second{{first.box.right() + kGap, row.y, side, kHigh}, area, energy};
  const Plot third{{second.box.x, first.box.bottom() + 22, side, kHigh}, area, latency};
  draw_axes(canvas, first);
  draw(first, seconds_of, energy_of);
  draw_axes(canvas, second, false, false);
  draw(second, area_of, energy_of);
  draw_axes(canvas, third);
  draw(third, area_of, seconds_of);
  return canvas.finish(label);
}

}  // namespace mapsim
