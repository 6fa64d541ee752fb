// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/plots.hpp"

namespace mapsim {

namespace {

const std::string kMarks = "class=\"marks\"";
constexpr double kRadians = 3.14159265358979323846 / 180;

// The roof of one bandwidth from the left edge to the peak, and its name along it.
void draw_slope(Canvas& canvas, const Plot& plot, double peak, double bandwidth, bool named,
                const std::vector<Point>& dots) {
  const double ridge = peak / bandwidth;
  const double low = std::max(plot.x.low(), plot.y.low() / bandwidth);
  const double top = std::min(ridge, plot.x.high());
  if (low >= top) {
    return;
  }
  const Point from = plot.at(low, low * bandwidth);
  const Point to = plot.at(top, top * bandwidth);
  canvas.polyline(std::array{from, to}, {kInk, 1.2, named ? "" : "4 3"});
  const double angle = std::atan2(to.y - from.y, to.x - from.x) / kRadians;
  const std::string name = si_text(bandwidth, "B/s");
  if (std::hypot(to.x - from.x, to.y - from.y) < text_width(name, 10) + 16) {
    return;
  }
  // Its name stands where there are fewest points.
  const auto along = [&](double share) {
    return Point{from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
  };
  double best = 0.5;
  double room = -1;
  for (const double share : {0.5, 0.35, 0.65, 0.2, 0.8}) {
    double nearest = 80;  // beyond, all are alike
    for (const Point& dot : dots) {
      nearest = std::min(nearest, std::hypot(dot.x - along(share).x, dot.y - along(share).y));
    }
    if (nearest > room) {
      room = nearest;
      best = share;
    }
  }
  const Point off{std::sin(angle * kRadians) * 5, -std::cos(angle * kRadians) * 5};
  canvas.words({along(best).x + off.x, along(best).y + off.y}, name,
               {Anchor::kMiddle, 10, kInk, false, angle});
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
  return {{62, chart.note.empty() ? 8.0 : 26.0, kFigureWidth - 72, 340},
          ChartAxis::decades("operational intensity", "op/B", *left / 2, *right * 2.5),
          ChartAxis::decades("performance", "op/s", *least / 2, *most * 1.6)};
}

}  // namespace

std::string roofline_svg(const std::string& label, const RooflineChart& chart) {
  Canvas canvas;
  const Plot plot = roofline_plot(chart);
  draw_axes(canvas, plot);
  if (!chart.note.empty()) {
    canvas.words({plot.box.right(), plot.box.y - 9}, chart.note, {Anchor::kEnd, 10.5, kMuted});
  }
  std::vector<Point> dots;
  for (const RooflinePoint& point : chart.points) {
    dots.push_back(plot.at(point.intensity, point.performance));
  }
  double ridge = plot.x.low();
  bool first = true;
  for (const double bandwidth : chart.bytes_per_second) {
    draw_slope(canvas, plot, chart.peak_ops, bandwidth, first, dots);
    const double own = chart.peak_ops / bandwidth;
    ridge = first ? own : std::min(ridge, own);
    first = false;
  }
  const Point from = plot.at(std::max(ridge, plot.x.low()), chart.peak_ops);
  canvas.polyline(std::array{from, Point{plot.box.right(), from.y}}, {kInk, 1.2, ""});
  canvas.words({plot.box.right() - 2, from.y - 5}, si_text(chart.peak_ops, "op/s"),
               {Anchor::kEnd, 10});
  std::vector<Label> labels;
  canvas.open_group(fmt::format("{} fill=\"{}\" fill-opacity=\"0.75\"", kMarks, kAccent));
  for (const RooflinePoint& point : chart.points) {
    const Point at = plot.at(point.intensity, point.performance);
    const double radius = 2 + 9 * std::sqrt(point.share);
    canvas.mark_dot(at, radius, "",
                    fmt::format("{}: {}, {}, {:.1f} % of the time", point.name,
                                si_text(point.intensity, "op/B"),
                                si_text(point.performance, "op/s"), 100 * point.share));
    labels.push_back({at, radius, point.name});
  }
  canvas.close_group();
  // The slowest are named first.
  std::vector<std::size_t> order(labels.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return chart.points[a].share > chart.points[b].share;
  });
  std::vector<Label> sorted;
  for (const std::size_t i : order) {
    sorted.push_back(labels[i]);
  }
  draw_labels(canvas, {plot.box.x, from.y + 4, plot.box.width, plot.box.bottom() - from.y - 4},
              sorted, dots);
  return canvas.finish(label);
}

std::string energies_svg(const std::string& label, const EnergyBins& bins) {
  Canvas canvas;
  const double most = *std::max_element(bins.counts.begin(), bins.counts.end());
  const double left =
      bins.optimum ? std::min(*bins.optimum, bins.edges.front()) : bins.edges.front();
  const double room = std::max(1.02, std::pow(bins.edges.back() / left, 0.02));
  const Plot plot{{62, 16, kFigureWidth - 72, 250},
                  ChartAxis::decades("energy", "J", left / room, bins.edges.back() * room),
                  ChartAxis::from_zero("mappings", "", most * 1.04)};
  draw_axes(canvas, plot);
  canvas.open_group(fmt::format("{} fill=\"{}\"", kMarks, kAccent));
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const double x = plot.px(bins.edges[i]);
    const double y = plot.py(bins.counts[i]);
    canvas.mark_bar({x, y, plot.px(bins.edges[i + 1]) - x - 0.6, plot.box.bottom() - y}, "",
                    fmt::format("{} to {}: {:.0f} mappings", si_text(bins.edges[i], "J"),
                                si_text(bins.edges[i + 1], "J"), bins.counts[i]));
  }
  canvas.close_group();
  if (bins.optimum) {
    const double x = plot.px(*bins.optimum);
    canvas.polyline(std::array{Point{x, plot.box.y}, Point{x, plot.box.bottom()}},
                    {kSignal, 1.4, ""});
    canvas.words({x + 5, plot.box.y + 8},
                 fmt::format("proven optimum {}", si_text(*bins.optimum, "J", 4)),
                 {Anchor::kStart, 10.5, kSignal});
  }
  return canvas.finish(label);
}

std::string predictions_svg(const std::string& label, const std::vector<PredictionSeries>& series) {
  Canvas canvas;
  Colours colours{Colours::Scheme::kTensors};
  std::vector<double> all;
  for (const PredictionSeries& one : series) {
    for (const Point& point : one.seconds) {
      all.insert(all.end(), {point.x, point.y});
    }
  }
  if (all.empty()) {
    all = {1e-6, 1e-3};  // an empty plot
  }
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  const double room = std::max(1.1, std::pow(*most / *least, 0.03));
  const auto axis = [&](const char* name) {
    return ChartAxis::decades(name, "s", *least / room, *most * room);
  };
  constexpr double kSide = 430;
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
    canvas.words({plot.box.right() + 16, y}, one.name, {Anchor::kStart, 11, kInk, true});
    canvas.polyline(std::array{Point{plot.box.right() + 16, y + 5},
                               Point{plot.box.right() + 16 + text_width(one.name, 12), y + 5}},
                    {fill, 2.5, ""});
    canvas.words({plot.box.right() + 16, y + 20}, one.remark, {Anchor::kStart, 10, kMuted});
    y += 40;
  }
  return canvas.finish(label);
}

}  // namespace mapsim
