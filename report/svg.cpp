// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mapsim {

namespace {

constexpr double kMargin = 20;
constexpr double kLetter = 7.3;  // a letter of 12 px of fixed width; of others, a wide one
constexpr double kTitleScale = 15.0 / 12;
constexpr std::array kAnchors{"start", "middle", "end"};

std::string escaped(const std::string& words) {
  std::string text;
  for (const char c : words) {
    text += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string{c};
  }
  return text;
}

}  // namespace

void Canvas::grow(double x, double y) {
  right_ = std::max(right_, x);
  bottom_ = std::max(bottom_, y);
}

void Canvas::rectangle(const Box& box, const std::string& fill, const std::string& stroke) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
      "stroke=\"{}\"/>\n",
      box.x, box.y, box.width, box.height, fill, stroke);
  grow(box.right(), box.bottom());
}

void Canvas::text(double x, double y, const std::string& words, Anchor anchor,
                  const std::string& style) {
  body_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}{} xml:space=\"preserve\">{}</text>\n",
      x, y, kAnchors[static_cast<std::size_t>(anchor)], style.empty() ? "" : " ", style,
      escaped(words));
  const double width =
      kLetter * static_cast<double>(words.size()) * (style == kTitleStyle ? kTitleScale : 1);
  grow(x + (anchor == Anchor::kStart ? width : anchor == Anchor::kMiddle ? width / 2 : 0), y + 4);
}

void Canvas::upright(double x, double y, const std::string& words) {
  body_ += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      x, y, escaped(words));
  grow(x, y);
}

void Canvas::line(double x1, double y1, double x2, double y2, const std::string& stroke) {
  body_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
                  x1, y1, x2, y2, stroke);
  grow(std::max(x1, x2), std::max(y1, y2));
}

void Canvas::dot(double x, double y, const std::string& fill) {
  constexpr double kRadius = 3;
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x, y,
                       kRadius, fill);
  grow(x + kRadius, y + kRadius);
}

void Canvas::arrow(double x1, double y1, double x2, double y2, const std::string& stroke) {
  constexpr double kHead = 5;
  line(x1, y1, x2, y2, stroke);
  const bool across = y1 == y2;
  const double back = (across ? x2 > x1 : y2 > y1) ? -kHead : kHead;
  for (const double side : {-kHead, kHead}) {
    line(x2, y2, x2 + (across ? back : side), y2 + (across ? side : back), stroke);
  }
}

std::string Canvas::finish() const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             right_ + kMargin, bottom_ + kMargin) +
         body_ + "</svg>\n";
}

}  // namespace mapsim
