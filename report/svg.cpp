// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/markup.hpp"

namespace mapsim {

namespace {

constexpr double kFigureLetters = 11;
constexpr double kEdge = 4;  // around figures
constexpr std::array kAnchors{"start", "middle", "end"};

// A coordinate to a tenth of a pixel, as short as it can be.
std::string px(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text == "-0" ? "0" : text;
}

std::string titled(const std::string& element, const std::string& shape, const std::string& title) {
  return title.empty()
             ? fmt::format("<{} {}/>\n", element, shape)
             : fmt::format("<{0} {1}><title>{2}</title></{0}>\n", element, shape, markup(title));
}

// Widths of the letters from blank to ~ in thousandths of their size: Adobe's metrics of Helvetica.
constexpr std::array kLetterWidths{
    278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,  // blank to /
    556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,  // 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,  // @ to O
    667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,  // P to _
    333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,  // ` to o
    556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};      // p to ~
constexpr double kOtherWidth = 600;
constexpr double kFixedWidth = 0.61;  // of its size, a letter of fixed width
constexpr double kFullWidth = 1000;   // of Chinese, Japanese and Korean, of the ellipsis
// Where there is no Helvetica its place is taken by letters up to this much wider (DejaVu Sans).
constexpr double kWiderLetters = 1.17;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Of the character that begins with this byte, in thousandths of its size.
double letter_width(char byte) {
  const bool known = byte >= ' ' && byte <= '~';
  return known                   ? kLetterWidths[static_cast<std::size_t>(byte - ' ')]
         : is_continuation(byte) ? 0
         : static_cast<unsigned char>(byte) >= 0xE3 ? kFullWidth
                                                    : kOtherWidth;
}

}  // namespace

double text_width(const std::string& words, double size) {
  double sum = 0;
  for (const char c : words) {
    sum += letter_width(c);
  }
  return sum * size / 1000 * kWiderLetters;
}

std::string clipped(const std::string& words, double size, double width) {
  // A text as wide as max_width, up to rounding, fits.
  const double most = width / (size / 1000 * kWiderLetters) * (1 + 1e-9);
  double sum = 0;
  std::size_t kept = 0;  // bytes that leave space for the ellipsis
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_continuation(words[i]) && sum + kFullWidth <= most) {
      kept = i;
    }
    sum += letter_width(words[i]);
    if (sum > most) {
      return words.substr(0, kept) + "\u2026";
    }
  }
  return words;
}

std::vector<std::string> wrapped(const std::string& words, double size, double width) {
  std::vector<std::string> lines{""};
  for (std::size_t from = 0; from < words.size();) {
    const std::size_t end = std::min(words.find(' ', from), words.size());
    const std::string word = words.substr(from, end - from);
    const std::string longer = lines.back() + (lines.back().empty() ? "" : " ") + word;
    if (lines.back().empty() || text_width(longer, size) <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(word);
    }
    from = end + 1;
  }
  return lines;
}

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

void Canvas::arrow(Point from, Point to, const std::string& stroke) {
  constexpr double kHead = 5;
  const LineStyle style{stroke, 1, ""};
  polyline(std::array{from, to}, style);
  const double length = std::max(1.0, std::hypot(to.x - from.x, to.y - from.y));
  const Point back{kHead * (from.x - to.x) / length, kHead * (from.y - to.y) / length};
  polyline(std::array{Point{to.x + back.x - back.y, to.y + back.y + back.x}, to,
                      Point{to.x + back.x + back.y, to.y + back.y - back.x}},
           style);
}

void Canvas::words(Point at, const std::string& given, const TextStyle& style) {
  const std::string text = repaired(given);  // before it is measured
  const std::string shown = style.max_width > 0 ? clipped(text, style.size, style.max_width) : text;
  const double width = style.fixed ? kFixedWidth * style.size * static_cast<double>(shown.size())
                                   : text_width(shown, style.size);
  std::string more = style.fixed ? " font-family=\"monospace\" xml:space=\"preserve\"" : "";
  if (style.anchor != Anchor::kStart) {
    more += fmt::format(" text-anchor=\"{}\"", kAnchors[static_cast<std::size_t>(style.anchor)]);
  }
  if (style.size != kFigureLetters) {
    more += fmt::format(" font-size=\"{}\"", px(style.size));
  }
  if (style.bold) {
    more += " font-weight=\"bold\"";
  }
  const std::string place = style.angle == 0
                                ? fmt::format("x=\"{}\" y=\"{}\"", px(at.x), px(at.y))
                                : fmt::format("transform=\"translate({} {}) rotate({})\"", px(at.x),
                                              px(at.y), px(style.angle));
  const std::string title =
      shown == text ? "" : fmt::format("<title>{}</title>", markup(text));  // all of it
  body_ += fmt::format("<text {}{} fill=\"{}\">{}{}</text>\n", place, more, style.fill,
                       markup(shown), title);
  const bool turned = style.angle != 0;
  const double part = style.anchor == Anchor::kStart    ? 1
                      : style.anchor == Anchor::kMiddle ? 0.5
                                                        : 0;
  grow(at.x + (turned ? 0 : width * part), at.y + 3);
}

void Canvas::halo(Point at, const std::string& text, double size) {
  body_ += fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"#ffffff\" stroke=\"#ffffff\" "
      "stroke-width=\"2.5\" aria-hidden=\"true\">{}</text>\n",
      px(at.x), px(at.y), px(size), markup(text));
}

void Canvas::polyline(std::span<const Point> points, const LineStyle& style) {
  body_ += "<polyline points=\"";
  for (const Point& point : points) {
    body_ += fmt::format("{},{} ", px(point.x), px(point.y));
    grow(point.x, point.y);
  }
  body_.back() = '"';
  body_ += fmt::format(
      " fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", style.stroke, px(style.width),
      style.dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", style.dashes));
}

void Canvas::mark_dot(Point at, double radius, const std::string& fill, const std::string& title) {
  const std::string paint = fill.empty() ? "" : fmt::format(" fill=\"{}\"", fill);
  body_ += titled(
      "circle",
      fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\"{}", px(at.x), px(at.y), px(radius), paint), title);
  grow(at.x + radius, at.y + radius);
}

void Canvas::mark_bar(const Box& box, const std::string& fill, const std::string& title) {
  const std::string paint = fill.empty() ? "" : fmt::format(" fill=\"{}\"", fill);
  body_ += titled("rect",
                  fmt::format("x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"{}", box.x,
                              px(box.y), box.width, px(box.height), paint),
                  title);
  grow(box.right(), box.bottom());
}

void Canvas::ring(Point at, double radius, const std::string& stroke) {
  body_ += fmt::format(
      "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\"/>\n",
      px(at.x), px(at.y), px(radius), stroke);
}

void Canvas::open_group(const std::string& attributes) { body_ += "<g " + attributes + ">\n"; }
void Canvas::close_group() { body_ += "</g>\n"; }

std::string Canvas::finish(const std::string& label) const {
  const double width = std::ceil(right_ + kEdge);
  const double height = std::ceil(bottom_ + kEdge);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" "
             "font-size=\"{2}\" role=\"img\" aria-label=\"{3}\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
             width, height, kFigureLetters, markup(label)) +
         body_ + "</svg>\n";
}

}  // namespace mapsim
