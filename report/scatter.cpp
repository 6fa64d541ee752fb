// SPDX-License-Identifier: Apache-2.0
#include "report/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/svg.hpp"

namespace mapsim {
namespace {

constexpr double kSide = 520;  // of the plot, px
constexpr double kLeft = 80;
constexpr double kTop = 50;
// Colours that people with any sight tell apart (Okabe, Ito 2008).
constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                              "#E69F00", "#56B4E9", "#000000", "#999933"};

std::string time_text(double seconds) {
  if (seconds < 0.9e-3) {
    return fmt::format("{:g} us", seconds * 1e6);
  }
  return seconds < 0.9 ? fmt::format("{:g} ms", seconds * 1e3) : fmt::format("{:g} s", seconds);
}

// A range of whole decades, and where a value lies in it.
struct Axis {
  double low = 0;  // exponents of ten
  double high = 1;
  double at(double value) const { return kSide * (std::log10(value) - low) / (high - low); }
};

Axis axis_of(const std::vector<ScatterGroup>& groups) {
  double least = INFINITY;
  double most = 0;
  for (const ScatterGroup& group : groups) {
    for (const ScatterGroup::Point& point : group.points) {
      least = std::min({least, point.x, point.y});
      most = std::max({most, point.x, point.y});
    }
  }
  if (most <= 0) {
    return {-6, -3};
  }
  Axis axis{std::floor(std::log10(least)), std::ceil(std::log10(most))};
  axis.high = std::max(axis.high, axis.low + 1);
  return axis;
}

}  // namespace

std::string scatter_svg(const std::string& title, const std::string& x, const std::string& y,
                        const std::vector<ScatterGroup>& groups) {
  const Axis axis = axis_of(groups);
  Canvas canvas;
  canvas.text(kLeft, kTop - 20, title, Anchor::kStart, kTitleStyle);
  canvas.rectangle({kLeft, kTop, kSide, kSide}, "none");
  for (double power = axis.low; power <= axis.high; ++power) {
    const double at = axis.at(std::pow(10, power));
    const std::string text = time_text(std::pow(10, power));
    canvas.line(kLeft + at, kTop, kLeft + at, kTop + kSide, "#d8d8d8");
    canvas.line(kLeft, kTop + kSide - at, kLeft + kSide, kTop + kSide - at, "#d8d8d8");
    canvas.text(kLeft + at, kTop + kSide + 18, text, Anchor::kMiddle);
    canvas.text(kLeft - 8, kTop + kSide - at + 4, text, Anchor::kEnd);
  }
  canvas.line(kLeft, kTop + kSide, kLeft + kSide, kTop, "#808080");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string colour = kColours[i % kColours.size()];
    for (const ScatterGroup::Point& point : groups[i].points) {
      canvas.dot(kLeft + axis.at(point.x), kTop + kSide - axis.at(point.y), colour);
    }
    const double line = kTop + 10 + 18 * static_cast<double>(i);
    canvas.dot(kLeft + kSide + 20, line, colour);
    canvas.text(kLeft + kSide + 30, line + 4, groups[i].name);
  }
  canvas.text(kLeft + kSide / 2, kTop + kSide + 40, x, Anchor::kMiddle);
  canvas.upright(20, kTop + kSide / 2, y);
  return canvas.finish();
}

}  // namespace mapsim
