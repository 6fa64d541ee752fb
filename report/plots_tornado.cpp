// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/plots.hpp"

namespace mapsim {

namespace {

constexpr double kPitch = 26;  // px of a row
constexpr double kBar = 13;    // px of a bar
constexpr double kLetters = 10.5;
constexpr double kTop = 24;  // px over the bars, for the name of the panel
constexpr double kGap = 30;  // px between panels

std::string change_text(double share) {
  const double percent = 100 * share;
  return std::abs(percent) < 0.05  ? "0 %"
         : std::abs(percent) < 100 ? fmt::format("{:+.1f} %", percent)
         : std::abs(percent) < 1e7 ? fmt::format("{:+.0f} %", percent)
                                   : fmt::format("{:+.1e} %", percent);
}

// As far as it can be drawn: no less than nothing is left, and there is an end.
double drawn(double change) {
  constexpr double kMost = 1e9;
  return std::isnan(change) ? 0 : std::clamp(change, -1.0, kMost);
}

// Where a change stands in a panel: linear, 0 within.
struct ChangeScale {
  double left = 0, width = 0, low = 0, high = 0;
  double max_width = 0;  // px of names
  double x(double change) const { return left + width * (change - low) / (high - low); }
};

double words_width(const TornadoEnd& end, double max_width) {
  return end.name.empty() ? 0 : std::min(max_width, text_width(end.name, kLetters - 0.5)) + 6;
}

ChangeScale scale_of(const TornadoPanel& panel, double left, double width) {
  const double max_width = width / 3;
  double low = 0;
  double high = 0;
  double before = 0;
  double behind = 0;
  for (const TornadoSwing& swing : panel.swings) {
    for (const TornadoEnd& end : {swing.low, swing.high}) {
      low = std::min(low, drawn(end.change));
      high = std::max(high, drawn(end.change));
    }
    before = std::max(before, words_width(swing.low, max_width));
    behind = std::max(behind, words_width(swing.high, max_width));
  }
  if (high - low < 1e-9) {
    high = low + 1e-3;
  }
  return {left + before, std::max(20.0, width - before - behind), low, high, max_width};
}

void draw_panel(Canvas& canvas, const std::vector<std::string>& rows, const TornadoPanel& panel,
                double left, double width) {
  const ChangeScale scale = scale_of(panel, left, width);
  const double bottom = kTop + kPitch * static_cast<double>(rows.size());
  constexpr double kBold = 1.1;  // as wide as other letters, at most
  const double half = std::min(width, kBold * text_width(panel.quantity, 11)) / 2;
  canvas.words({std::clamp(scale.x(0), left + half, left + width - half), kTop - 11},
               panel.quantity, {Anchor::kMiddle, 11, kInk, true, 0, width});
  canvas.polyline(std::array{Point{scale.x(0), kTop - 4}, Point{scale.x(0), bottom}},
                  {kInk, 1, ""});
  canvas.open_group(fmt::format("{} fill=\"{}\"", kMarks, kAccent));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double y = kTop + kPitch * static_cast<double>(row) + (kPitch - kBar) / 2;
    for (const TornadoEnd& end : {panel.swings[row].low, panel.swings[row].high}) {
      if (end.change != 0) {
        const double from = scale.x(std::min(0.0, drawn(end.change)));
        const double to = scale.x(std::max(0.0, drawn(end.change)));
        canvas.mark_bar({from, y, std::max(0.5, to - from), kBar}, "",
                        fmt::format("{}{} {}, {}: {}", end.design, rows[row], end.name,
                                    panel.quantity, change_text(end.change)));
      }
    }
  }
  canvas.close_group();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double y = kTop + kPitch * (static_cast<double>(row) + 0.5) + 3.5;
    const TornadoSwing& swing = panel.swings[row];
    if (!swing.low.name.empty()) {
      canvas.words({scale.x(drawn(swing.low.change)) - 4, y}, swing.low.name,
                   {Anchor::kEnd, kLetters - 0.5, kMuted, false, 0, scale.max_width});
    }
    if (!swing.high.name.empty()) {
      canvas.words({scale.x(drawn(swing.high.change)) + 4, y}, swing.high.name,
                   {Anchor::kStart, kLetters - 0.5, kMuted, false, 0, scale.max_width});
    }
  }
  for (const double end : {scale.low, scale.high}) {
    if (end != 0) {
      canvas.words({scale.x(end), bottom + 13}, change_text(end), {Anchor::kMiddle, 10, kMuted});
    }
  }
}

}  // namespace

std::string tornado_svg(const std::string& label, const std::vector<std::string>& rows,
                        const std::vector<TornadoPanel>& panels) {
  constexpr double kMostName = 200;
  Canvas canvas;
  double names = 40;
  for (const std::string& row : rows) {
    names = std::max(names, std::min(kMostName, text_width(row, kLetters)));
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    canvas.words({names, kTop + kPitch * (static_cast<double>(row) + 0.5) + 3.5}, rows[row],
                 {Anchor::kEnd, kLetters, kInk, false, 0, names});
  }
  const auto count = static_cast<double>(panels.size());
  const double width = (kFigureWidth - names - 12 - kGap * (count - 1)) / count;
  double left = names + 12;
  for (const TornadoPanel& panel : panels) {
    draw_panel(canvas, rows, panel, left, width);
    left += width + kGap;
  }
  return canvas.finish(label);
}

}  // namespace mapsim
