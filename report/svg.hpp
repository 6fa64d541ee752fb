// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

namespace mapsim {

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

enum class Anchor : unsigned char { kStart, kMiddle, kEnd };

// Words in the letters of figures (Helvetica or what is like it).
struct TextStyle {
  Anchor anchor = Anchor::kStart;
  double size = 11;
  std::string fill = "#222222";
  bool bold = false;
  double angle = 0;    // degrees, clockwise around the anchor
  double room = 0;     // px; longer words are clipped, and whole in their title; 0: any length
  bool fixed = false;  // letters of one width, and blanks as they are
};
double text_width(const std::string& words, double size);
// Cut to a width, with an ellipsis in place of its end.
std::string clipped(const std::string& words, double size, double width);

struct LineStyle {
  std::string stroke = "#222222";
  double width = 1;
  std::string dashes = "";  // as SVG says it: "4 3"
};

// Lines of words, each as wide as fits; a word alone may be wider.
std::vector<std::string> wrapped(const std::string& words, double size, double width);

// A picture that grows as things are drawn.
class Canvas {
 public:
  void words(Point at, const std::string& text, const TextStyle& style = {});
  void halo(Point at, const std::string& text, double size);  // white, under words on lines
  void polyline(std::span<const Point> points, const LineStyle& style);
  // A shape that stands for a datum; the title appears over it, unless empty.
  void mark_dot(Point at, double radius, const std::string& fill, const std::string& title = "");
  void mark_bar(const Box& box, const std::string& fill, const std::string& title = "");
  void ring(Point at, double radius, const std::string& stroke);
  void rectangle(const Box& box, const std::string& fill, const std::string& stroke);
  // From one point to another beside or below it, with a head.
  void arrow(Point from, Point to, const std::string& stroke);
  void open_group(const std::string& attributes);  // class="marks"
  void close_group();
  double bottom() const { return bottom_; }  // of all that has been drawn
  // All of it, as wide and as high as what has been drawn. The label says what it shows, to those
  // who cannot see it.
  std::string finish(const std::string& label) const;

 private:
  void grow(double x, double y);
  std::string body_;
  double right_ = 0;
  double bottom_ = 0;
};

}  // namespace mapsim
