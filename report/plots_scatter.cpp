// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "report/plots.hpp"

namespace mapsim {

namespace {

constexpr double kRadians = 3.14159265358979323846 / 180;

// A line of the roof, where it can be seen.
struct Roof {
  Point from, to;
  double angle() const { return std::atan2(to.y - from.y, to.x - from.x) / kRadians; }
  double length() const { return std::hypot(to.x - from.x, to.y - from.y); }
  Point along(double share) const {
    return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
  }
};

// The roof of one bandwidth from the left edge to the peak.
std::optional<Roof> roof_of(const Plot& plot, double peak, double bandwidth) {
  const double low = std::max(plot.x.low(), plot.y.low() / bandwidth);
  const double top = std::min(peak / bandwidth, plot.x.high());
  return low < top
             ? std::optional{Roof{plot.at(low, low * bandwidth), plot.at(top, top * bandwidth)}}
             : std::nullopt;
}

// Small boxes that cover a band along a line.
struct Band {
  double middle = 0.5;  // share of the line
  double length = 0;
  double over = 0;  // px over the line
  double half = 2;  // px to either side
};
std::vector<Box> boxes_along(const Roof& roof, const Band& band) {
  const double angle = roof.angle() * kRadians;
  const Point center = roof.along(band.middle);
  std::vector<Box> boxes;
  for (double at = -band.length / 2; at <= band.length / 2; at += band.half) {
    boxes.push_back(box_around({center.x + at * std::cos(angle) + band.over * std::sin(angle),
                                center.y + at * std::sin(angle) - band.over * std::cos(angle)},
                               band.half));
  }
  return boxes;
}

std::ptrdiff_t overlaps(const std::vector<Box>& boxes, const std::vector<Box>& others) {
  return std::count_if(boxes.begin(), boxes.end(), [&others](const Box& box) {
    return std::any_of(others.begin(), others.end(),
                       [&box](const Box& other) { return overlap(box, other); });
  });
}

// The name of a roof along it, where it hides fewest marks and no words; without such a place none.
void name_roof(Canvas& canvas, const Roof& roof, const std::string& name,
               const std::vector<Box>& marks, std::vector<Box>& words) {
  constexpr double kOver = 5;  // px, of the line of the letters over the roof
  const double width = text_width(name, 10);
  double best = -1;
  std::ptrdiff_t hidden = 0;
  for (const double share : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9}) {
    const bool inside = std::min(share, 1 - share) * roof.length() > width / 2 + 4;
    const std::vector<Box> boxes = boxes_along(roof, {share, width, kOver + 3.5, 4.5});
    const std::ptrdiff_t hides = overlaps(boxes, marks);
    if (inside && overlaps(boxes, words) == 0 && (best < 0 || hides < hidden)) {
      best = share;
      hidden = hides;
    }
  }
  if (best < 0) {
    return;
  }
  const double angle = roof.angle();
  const Point at = roof.along(best);
  canvas.words(
      {at.x + std::sin(angle * kRadians) * kOver, at.y - std::cos(angle * kRadians) * kOver}, name,
      {Anchor::kMiddle, 10, kInk, false, angle});
  const std::vector<Box> boxes = boxes_along(roof, {best, width, kOver + 3.5, 4.5});
  words.insert(words.end(), boxes.begin(), boxes.end());
}

// The roofs and their names. Returns what names of points have to keep off.
std::vector<Box> draw_roofs(Canvas& canvas, const Plot& plot, const RooflineChart& chart,
                            const std::vector<Box>& dots) {
  const std::string peak = si_text(chart.peak_ops, "op/s");
  double ridge = chart.bytes_per_second.empty() ? plot.x.low() : plot.x.high();
  for (const double bandwidth : chart.bytes_per_second) {
    ridge = std::min(ridge, chart.peak_ops / bandwidth);
  }
  const Roof top{plot.at(std::max(ridge, plot.x.low()), chart.peak_ops),
                 {plot.box.right(), plot.py(chart.peak_ops)}};
  canvas.polyline(std::array{top.from, top.to}, {kInk, 1.2, ""});
  canvas.words({top.to.x - 2, top.to.y - 5}, peak, {Anchor::kEnd, 10});
  const double width = text_width(peak, 10);
  std::vector<Box> words{{top.to.x - 2 - width, top.to.y - 14, width, 12}};
  std::vector<std::pair<Roof, std::string>> named;  // of equal names one
  std::vector<Box> marks = dots;
  for (const double bandwidth : chart.bytes_per_second) {
    const std::optional<Roof> roof = roof_of(plot, chart.peak_ops, bandwidth);
    if (!roof) {
      continue;
    }
    canvas.polyline(std::array{roof->from, roof->to},
                    {kInk, 1.2, bandwidth == chart.bytes_per_second.front() ? "" : "4 3"});
    const std::vector<Box> line = boxes_along(*roof, {0.5, roof->length(), 0, 2});
    marks.insert(marks.end(), line.begin(), line.end());
    const std::string name = si_text(bandwidth, "B/s");
    if (named.empty() || named.back().second != name) {
      named.emplace_back(*roof, name);
    }
  }
  for (const auto& [roof, name] : named) {
    name_roof(canvas, roof, name, marks, words);
  }
  marks.insert(marks.end(), words.begin(), words.end());
  return marks;
}

double radius_of(const RooflinePoint& point) {
  const double share = std::isnan(point.share) ? 0 : std::clamp(point.share, 0.0, 1.0);
  return 2 + 9 * std::sqrt(share);
}

Plot roofline_plot(const RooflineChart& chart) {
  std::vector<double> across;
  std::vector<double> up{chart.peak_ops};
  for (const RooflinePoint& point : chart.points) {
    across.push_back(point.intensity);
    up.push_back(point.performance);
  }
  for (const double bandwidth : chart.bytes_per_second) {
    across.push_back(chart.peak_ops / bandwidth);
  }
  const auto [left, right] = std::minmax_element(across.begin(), across.end());
  const auto [least, most] = std::minmax_element(up.begin(), up.end());
  const double top = chart.note.empty() ? 8 : 26;
  const ChartAxis performance = ChartAxis::decades("performance", "op/s", *least / 2, *most * 1.6);
  return {plot_box(performance, top, 340),
          ChartAxis::decades("operational intensity", "op/B", *left / 2, *right * 2.5),
          performance};
}

}  // namespace

std::string roofline_svg(const std::string& label, const RooflineChart& chart) {
  Canvas canvas;
  const Plot plot = roofline_plot(chart);
  draw_axes(canvas, plot);
  if (!chart.note.empty()) {
    canvas.words({plot.box.right(), plot.box.y - 9}, chart.note,
                 {Anchor::kEnd, 10.5, kMuted, false, 0, plot.box.width});
  }
  // The slowest are named first: theirs is the larger dot.
  std::vector<RooflinePoint> points = chart.points;
  std::stable_sort(
      points.begin(), points.end(),
      [](const RooflinePoint& a, const RooflinePoint& b) { return radius_of(a) > radius_of(b); });
  std::vector<PointLabel> labels;
  std::vector<Box> dots;
  for (const RooflinePoint& point : points) {
    const Point at = plot.at(point.intensity, point.performance);
    add_label({at, radius_of(point), point.name}, labels);
    dots.push_back(box_around(at, radius_of(point)));
  }
  const std::vector<Box> taken = draw_roofs(canvas, plot, chart, dots);
  canvas.open_group(fmt::format("{} fill=\"{}\" fill-opacity=\"0.75\"", kMarks, kAccent));
  for (const RooflinePoint& point : chart.points) {
    canvas.mark_dot(plot.at(point.intensity, point.performance), radius_of(point), "",
                    fmt::format("{}: {}, {}, {:.1f} % of the time", point.name,
                                si_text(point.intensity, "op/B"),
                                si_text(point.performance, "op/s"), 100 * point.share));
  }
  canvas.close_group();
  draw_labels(canvas, plot.box, labels, taken);
  return canvas.finish(label);
}

namespace {

// The optimum where it lies, and its name on the side that has room for it.
void draw_optimum(Canvas& canvas, const Plot& plot, double optimum) {
  const double x = plot.px(optimum);
  canvas.polyline(std::array{Point{x, plot.box.y - 4}, Point{x, plot.box.bottom()}},
                  {kSignal, 1.4, ""});
  const bool right = plot.x.place(optimum) < 0.5;
  canvas.words({x + (right ? 5 : -5), plot.box.y - 6},
               fmt::format("proven optimum {}", si_text(optimum, "J", 4)),
               {right ? Anchor::kStart : Anchor::kEnd, 10.5, kSignal});
}

}  // namespace

std::string energies_svg(const std::string& label, const EnergyBins& bins) {
  Canvas canvas;
  const double top = draw_head(canvas, bins.head) + 20;
  if (bins.counts.empty()) {
    return canvas.finish(label);
  }
  const double most = *std::max_element(bins.counts.begin(), bins.counts.end());
  const double optimum = bins.optimum.value_or(bins.edges.front());
  const double left = std::min(optimum, bins.edges.front());
  const double right = std::max(optimum, bins.edges.back());
  const double room = std::max(1.02, std::pow(right / left, 0.02));
  const ChartAxis mappings = ChartAxis::from_zero("mappings", "", most * 1.04);
  const Plot plot{plot_box(mappings, top, 250),
                  ChartAxis::decades("energy", "J", left / room, right * room), mappings};
  draw_axes(canvas, plot);
  canvas.open_group(fmt::format("{} fill=\"{}\"", kMarks, kAccent));
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const double x = plot.px(bins.edges[i]);
    const double y = plot.py(bins.counts[i]);
    const double width = std::max(0.0, plot.px(bins.edges[i + 1]) - x);
    canvas.mark_bar({x, y, std::max(width - 0.6, width / 2), plot.box.bottom() - y}, "",
                    fmt::format("{} to {}: {:.0f} mappings", si_text(bins.edges[i], "J"),
                                si_text(bins.edges[i + 1], "J"), bins.counts[i]));
  }
  canvas.close_group();
  if (bins.optimum) {
    draw_optimum(canvas, plot, *bins.optimum);
  }
  return canvas.finish(label);
}

std::string predictions_svg(const std::string& label, const std::vector<PredictionSeries>& series) {
  Canvas canvas;
  Colours colours{Colours::Scheme::kTensors};
  std::vector<double> all;
  for (const PredictionSeries& one : series) {
    for (const Point& point : one.seconds) {
      for (const double seconds : {point.x, point.y}) {
        if (seconds > 0 && std::isfinite(seconds)) {  // has a place on a logarithmic scale
          all.push_back(seconds);
        }
      }
    }
  }
  if (all.empty()) {
    all = {1e-6, 1e-3};  // an empty plot
  }
  const double least = *std::min_element(all.begin(), all.end());
  const double most = *std::max_element(all.begin(), all.end());
  const double room = std::max(1.1, std::pow(most / least, 0.03));
  const auto axis = [&](const char* name) {
    return ChartAxis::decades(name, "s", least / room, most * room);
  };
  constexpr double kSide = 430;
  constexpr double kBeside = kFigureWidth - 62 - kSide - 16;  // px for the names
  const Plot plot{{62, 8, kSide, kSide}, axis("measured"), axis("predicted")};
  draw_axes(canvas, plot);
  for (const double factor : {0.5, 1.0, 2.0}) {
    const double low = std::max(plot.x.low(), plot.x.low() / factor);
    const double high = std::min(plot.x.high(), plot.x.high() / factor);
    canvas.polyline(std::array{plot.at(low, low * factor), plot.at(high, high * factor)},
                    factor == 1 ? LineStyle{kInk, 1, ""} : LineStyle{kMuted, 0.8, "4 3"});
  }
  const double high = plot.x.high();
  canvas.words(plot.at(high / 2, high), "2 x ", {Anchor::kEnd, 9.5, kMuted});
  canvas.words(plot.at(high, high / 2), "1/2 x ", {Anchor::kEnd, 9.5, kMuted});
  double y = plot.box.y + 14;
  for (const PredictionSeries& one : series) {
    const std::string fill = colours.of(one.name);
    canvas.open_group(fmt::format("{} fill=\"{}\" fill-opacity=\"0.6\"", kMarks, fill));
    for (const Point& point : one.seconds) {
      canvas.mark_dot(plot.at(point.x, point.y), 2.6, "");
    }
    canvas.close_group();
    canvas.words({plot.box.right() + 16, y}, one.name,
                 {Anchor::kStart, 11, kInk, true, 0, kBeside});
    canvas.polyline(
        std::array{
            Point{plot.box.right() + 16, y + 5},
            Point{plot.box.right() + 16 + std::min(kBeside, text_width(one.name, 12)), y + 5}},
        {fill, 2.5, ""});
    canvas.words({plot.box.right() + 16, y + 20}, one.remark,
                 {Anchor::kStart, 10, kMuted, false, 0, kBeside});
    y += 40;
  }
  return canvas.finish(label);
}

}  // namespace mapsim
