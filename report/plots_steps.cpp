// SPDX-License-Identifier: Apache-2.0
#include "report/plots_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/plots.hpp"

namespace mapsim {

namespace {

// Where a line runs, for labels to keep off.
void add_obstacles(const std::vector<Point>& line, std::vector<Box>& obstacles) {
  constexpr double kEvery = 4;   // px
  constexpr double kHalf = 2.5;  // px
  for (std::size_t i = 1; i < line.size(); ++i) {
    const double dx = line[i].x - line[i - 1].x;
    const double dy = line[i].y - line[i - 1].y;
    const double length = std::hypot(dx, dy);
    for (double at = 0; at < length; at += kEvery) {
      obstacles.push_back(
          box_around({line[i - 1].x + dx * at / length, line[i - 1].y + dy * at / length}, kHalf));
    }
  }
}

std::vector<Point> steps_of(const Plot& plot, const std::vector<StepMark>& marks) {
  std::vector<Point> sorted;
  for (const StepMark& mark : marks) {
    if (!std::isnan(mark.value.x) && !std::isnan(mark.value.y)) {  // else there is no order
      sorted.push_back(mark.value);
    }
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  std::vector<Point> steps;
  double least = 0;
  for (const Point& point : sorted) {
    if (steps.empty() || point.y < least) {
      steps.push_back({plot.px(point.x), steps.empty() ? plot.box.y : plot.py(least)});
      steps.push_back(plot.at(point.x, point.y));
      least = point.y;
    }
  }
  steps.push_back({plot.box.right(), plot.py(least)});
  return steps;
}

}  // namespace

void draw_steps_and_marks(Canvas& canvas, const Plot& plot, const std::vector<StepMark>& marks) {
  constexpr double kRing = 6;                // px, around the chosen one
  constexpr std::size_t kMostTitles = 1500;  // beyond, the file would be all titles
  const std::vector<Point> steps = steps_of(plot, marks);
  canvas.polyline(steps, {kAccent, 0.9, ""});
  std::vector<Box> obstacles;
  add_obstacles(steps, obstacles);
  std::vector<PointLabel> labels;
  for (const bool front : {false, true}) {
    canvas.open_group(fmt::format("{} fill=\"{}\"", kMarks, front ? kAccent : kShade));
    for (const StepMark& mark : marks) {
      if (mark.on_front != front) {
        continue;
      }
      const Point at = plot.at(mark.value.x, mark.value.y);
      const bool titled = front || marks.size() <= kMostTitles;
      canvas.mark_dot(at, front ? 3 : 2.4, "", titled ? mark.title : "");
      if (front) {
        add_label({at, mark.chosen ? kRing : 3, mark.name}, labels);
        obstacles.push_back(box_around(at, 3));
      }
    }
    canvas.close_group();
  }
  for (const StepMark& mark : marks) {
    if (mark.chosen) {
      canvas.ring(plot.at(mark.value.x, mark.value.y), kRing, kSignal);
    }
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const PointLabel& a, const PointLabel& b) { return a.at.x < b.at.x; });
  draw_labels(canvas, plot.box, labels, obstacles);
}

std::string front_svg(const std::string& label, const FrontChart& chart) {
  Canvas canvas;
  const double top = draw_head(canvas, chart.head) + 8;
  if (chart.points.empty()) {
    return canvas.finish(label);
  }
  const Plot plot{plot_box(chart.y, top, 330), chart.x, chart.y};
  std::vector<StepMark> marks;
  for (const FrontDot& dot : chart.points) {
    const std::string number =
        dot.number.empty() ? fmt::format("{}", marks.size() + 1) : dot.number;
    marks.push_back(
        {{dot.x, dot.y}, number, fmt::format("{}: {}", number, dot.title), true, false});
  }
  draw_axes(canvas, plot);
  draw_steps_and_marks(canvas, plot, marks);
  return canvas.finish(label);
}

}  // namespace mapsim
