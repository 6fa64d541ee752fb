// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

namespace mapsim {

// Drawing of SVG figures. Lengths and places are in px, y grows downwards.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

struct Point {
  double x = 0;
  double y = 0;
};

// Which part of a text lies at its point.
enum class Anchor : unsigned char { kStart, kMiddle, kEnd };

// A text in the font of figures (Helvetica, or a font as wide).
struct TextStyle {
  Anchor anchor = Anchor::kStart;
  double size = 11;
  std::string fill = "#222222";
  bool bold = false;
  double angle = 0;      // degrees, clockwise around the anchor
  double max_width = 0;  // a longer text is clipped, and whole in its title; 0: any length
  bool fixed = false;    // a monospaced font; blanks are kept
};
// Width of a text in this font size.
double text_width(const std::string& words, double size);
// The text cut to a width, with an ellipsis in place of its end.
std::string clipped(const std::string& words, double size, double width);

// How a line is drawn.
struct LineStyle {
  std::string stroke = "#222222";
  double width = 1;
  std::string dashes = "";  // as SVG says it: "4 3"
};

// The text as lines of at most this width; a single word may be wider.
std::vector<std::string> wrapped(const std::string& words, double size, double width);

// A figure that grows with what is drawn.
class Canvas {
 public:
  void words(Point at, const std::string& text, const TextStyle& style = {});
  void halo(Point at, const std::string& text, double size);  // white, under words on lines
  void polyline(std::span<const Point> points, const LineStyle& style);
  // A shape that stands for a datum; a title that is not empty appears when one points at it.
  void mark_dot(Point at, double radius, const std::string& fill, const std::string& title = "");
  void mark_bar(const Box& box, const std::string& fill, const std::string& title = "");
  void ring(Point at, double radius, const std::string& stroke);
  void rectangle(const Box& box, const std::string& fill, const std::string& stroke);
  // A line with a head, to a point beside or below `from`.
  void arrow(Point from, Point to, const std::string& stroke);
  void open_group(const std::string& attributes);  // class="marks"
  void close_group();
  double bottom() const { return bottom_; }  // of all that has been drawn
  // The SVG file, as wide and as high as what has been drawn. `label` describes the figure to
  // readers who cannot see it.
  std::string finish(const std::string& label) const;

 private:
  void grow(double x, double y);
  std::string body_;
  double right_ = 0;
  double bottom_ = 0;
};

}  // namespace mapsim
