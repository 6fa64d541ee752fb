// SPDX-License-Identifier: Apache-2.0
#include "report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace mapsim {

namespace {

const std::string kMarks = "class=\"marks\"";

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

void draw_bar_axis(Canvas& canvas, const BarPanel& panel, const ChartAxis& axis, const Box& box) {
  const auto x = [&](double value) { return box.x + box.width * axis.place(value); };
  for (const ChartAxis::Tick& tick : axis.ticks(static_cast<std::size_t>(box.width / 55))) {
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
  draw_segment_names(canvas, names, box.x, box.x + box.width + 60, box.y);
}

void draw_panel(Canvas& canvas, const std::vector<std::string>& rows, const BarPanel& panel,
                const Box& box) {
  const RowLayout layout = layout_of(rows.size());
  double most = 0;
  double words = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    most = std::max(most, sum(panel.values[row]));
    words = std::max(words, text_width(panel.ends[row], layout.letters - 1));
  }
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
                 {Anchor::kStart, layout.letters - 1, kMuted});
  }
}

// ----- designs -----

bool as_good(const DesignPoint& a, const DesignPoint& b, bool areas) {
  return a.energy <= b.energy && a.seconds <= b.seconds && (!areas || *a.area <= *b.area);
}

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

// What is best in these two figures alone, as steps; where they run, for labels to keep off.
std::vector<Point> draw_steps(Canvas& canvas, const Plot& plot,
                              const std::vector<DesignPoint>& points, Measure x, Measure y) {
  std::vector<Point> sorted;
  for (const DesignPoint& point : points) {
    sorted.push_back({x(point), y(point)});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<Point> steps;
  double least = 0;
  for (const Point& point : sorted) {
    if (steps.empty() || point.y < least) {
      if (steps.empty()) {
        steps.push_back({plot.px(point.x), plot.box.y});
      } else {
        steps.push_back({plot.px(point.x), plot.py(least)});
      }
      steps.push_back(plot.at(point.x, point.y));
      least = point.y;
    }
  }
  steps.push_back({plot.box.right(), plot.py(least)});
  canvas.polyline(steps, {kAccent, 0.9, ""});
  constexpr double kEvery = 4;  // px
  std::vector<Point> along;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const double dx = steps[i].x - steps[i - 1].x;
    const double dy = steps[i].y - steps[i - 1].y;
    const double length = std::hypot(dx, dy);
    for (double at = 0; at < length; at += kEvery) {
      along.push_back({steps[i - 1].x + dx * at / length, steps[i - 1].y + dy * at / length});
    }
  }
  return along;
}

void draw_designs(Canvas& canvas, const Plot& plot, const std::vector<DesignPoint>& points,
                  Measure x, Measure y) {
  constexpr double kRing = 6;                // px, around the chosen design
  constexpr std::size_t kMostTitles = 1500;  // beyond, the file would be all titles
  std::vector<Point> obstacles = draw_steps(canvas, plot, points, x, y);
  std::vector<Label> labels;
  for (const bool front : {false, true}) {
    canvas.open_group(fmt::format("{} fill=\"{}\"", kMarks, front ? kAccent : kShade));
    for (const DesignPoint& point : points) {
      if (point.on_front != front) {
        continue;
      }
      const Point at = plot.at(x(point), y(point));
      const bool titled = front || points.size() <= kMostTitles;
      canvas.mark_dot(at, front ? 3 : 2.4, "", titled ? point.title : "");
      if (front) {
        // Designs at one place share a label.
        const auto same = std::find_if(labels.begin(), labels.end(), [&](const Label& label) {
          return std::hypot(label.at.x - at.x, label.at.y - at.y) < 0.5;
        });
        if (same != labels.end() && point.chosen) {
          same->radius = kRing;
        }
        if (same == labels.end()) {
          labels.push_back({at, point.chosen ? kRing : 3, point.name});
          obstacles.push_back(at);
        } else if (std::count(same->text.begin(), same->text.end(), ',') < 5) {
          same->text += ", " + point.name;
        } else if (!same->text.ends_with("\u2026")) {
          same->text += ", \u2026";
        }
      }
    }
    canvas.close_group();
  }
  for (const DesignPoint& point : points) {
    if (point.chosen) {
      canvas.ring(plot.at(x(point), y(point)), kRing, kSignal);
    }
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return a.at.x < b.at.x; });
  draw_labels(canvas, plot.box, labels, obstacles);
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
  const bool parts = std::any_of(panels.begin(), panels.end(),
                                 [](const BarPanel& panel) { return panel.parts.size() > 1; });
  const double top = parts ? 26 : 8;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double y = top + layout.pitch * (static_cast<double>(row) + 0.5);
    canvas.words({names, y + layout.letters * 0.35}, clipped(rows[row], layout.letters, kMostName),
                 {Anchor::kEnd, layout.letters});
  }
  const double room = kFigureWidth - names - 8 - kGap * static_cast<double>(panels.size() - 1);
  double x = names + 8;
  for (const BarPanel& panel : panels) {
    const Box box{x, top, room * panel.share, layout.pitch * static_cast<double>(rows.size())};
    draw_panel(canvas, rows, panel, box);
    x = box.right() + kGap;
  }
  return canvas.finish(label);
}

void mark_front(std::vector<DesignPoint>& points) {
  const bool areas = have_areas(points);
  for (DesignPoint& point : points) {
    point.on_front = std::none_of(points.begin(), points.end(), [&](const DesignPoint& other) {
      return as_good(other, point, areas) && !as_good(point, other, areas);
    });
  }
}

std::string designs_svg(const std::string& label, const std::vector<DesignPoint>& points) {
  Canvas canvas;
  const ChartAxis energy = ChartAxis::around("energy", "J", all_of(points, energy_of));
  const ChartAxis latency = ChartAxis::around("latency", "s", all_of(points, seconds_of));
  if (!have_areas(points)) {
    const Plot plot{{62, 8, kFigureWidth - 72, 330}, latency, energy};
    draw_axes(canvas, plot);
    draw_designs(canvas, plot, points, seconds_of, energy_of);
    return canvas.finish(label);
  }
  const ChartAxis area = ChartAxis::around("area", "mm²", all_of(points, area_of));
  constexpr double kSide = (kFigureWidth - 62 - 28 - 10) / 2;
  constexpr double kHigh = 235;
  const Plot first{{62, 8, kSide, kHigh}, latency, energy};
  const Plot second{{first.box.right() + 28, 8, kSide, kHigh}, area, energy};
  const Plot third{{second.box.x, first.box.bottom() + 22, kSide, kHigh}, area, latency};
  draw_axes(canvas, first);
  draw_designs(canvas, first, points, seconds_of, energy_of);
  draw_axes(canvas, second, false, false);
  draw_designs(canvas, second, points, area_of, energy_of);
  draw_axes(canvas, third);
  draw_designs(canvas, third, points, area_of, seconds_of);
  return canvas.finish(label);
}

}  // namespace mapsim
