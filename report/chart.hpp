// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/svg.hpp"

namespace mapsim {

// Colours of figures on white paper, and what takes their place on a dark screen.
struct Paint {
  std::string_view light, dark;
};
inline constexpr const char* kInk = "#222222";     // words, what must be read
inline constexpr const char* kMuted = "#666666";   // scales
inline constexpr const char* kGrid = "#e2e2e2";    // lines behind the data
inline constexpr const char* kShade = "#b8b8b8";   // data that is beaten by other data
inline constexpr const char* kAccent = "#0077bb";  // the data
inline constexpr const char* kSignal = "#cc3311";  // what it is compared with
// Of pictures of machines: nodes, what is in use, what is not.
inline constexpr const char* kLevelFill = "#e3edf7";
inline constexpr const char* kFanoutFill = "#f3e9d2";
inline constexpr const char* kComputeFill = "#e2f0e4";
inline constexpr const char* kUsedFill = "#cfcfcf";
inline constexpr const char* kIdleFill = "#f7f7f7";
inline constexpr const char* kEdgeStroke = "#404040";
// In the order of Role: of arrows and legend, and of what is in use where the tensor stays.
inline constexpr std::array kRoleColours{"#2f6fb0", "#c06a1f", "#2f8a4c"};
inline constexpr std::array kRoleTints{"#9ec5e8", "#eec79f", "#a8d8b5"};
const char* pale_fill(std::size_t index);  // below 10: of bars with words, of many side by side
std::vector<Paint> paints();               // all of them, and those below
// Rules of a style sheet that put the dark colours in the place of the light ones on a dark screen.
std::string dark_rules();
// A figure that stands alone, in a file: with these rules in it. A page has them once for all.
std::string standalone(const std::string& svg);

inline constexpr double kFigureWidth = 720;
inline constexpr const char* kMarks = "class=\"marks\"";  // attribute of groups of data

// The colour of each name in the order in which names first come up, so that a node or a tensor
// looks the same in all figures of a report. From the schemes of Paul Tol (SRON/EPS/TN/09-002),
// which the colour-blind can tell apart: cool ones for nodes, warm ones for tensors.
class Colours {
 public:
  enum class Scheme : unsigned char { kNodes, kTensors };
  explicit Colours(Scheme scheme) : scheme_{scheme} {}
  std::string of(const std::string& name);

 private:
  Scheme scheme_;
  std::vector<std::string> names_;
};

// A number with an SI prefix: "12.3 mJ"; digits count, not decimals.
inline constexpr double kPicojoule = 1e-12;  // J
std::string si_text(double value, const std::string& unit, int digits = 3);

// A scale of a figure. It is in the unit with the prefix that suits its end: "energy (mJ)". Its
// ends are finite and apart whatever the data are; data beyond an end have their place at it.
class ChartAxis {
 public:
  // From 0 on, linear.
  static ChartAxis from_zero(std::string quantity, std::string unit, double high);
  // Around data above 0: logarithmic, unless it lies within a factor of four.
  static ChartAxis around(std::string quantity, std::string unit,
                          const std::vector<double>& values);
  // Logarithmic from edge to edge.
  static ChartAxis decades(std::string quantity, std::string unit, double low, double high);
  // As around(), of sizes in bytes: ticks at powers of two, prefixes Ki, Mi, Gi.
  static ChartAxis of_bytes(std::string quantity, const std::vector<double>& values);

  double place(double value) const;  // 0 at the low end, 1 at the high end
  double low() const { return low_; }
  double high() const { return high_; }
  double factor() const { return factor_; }  // of the prefix
  bool is_logarithmic() const { return logarithmic_; }
  std::string title() const;
  struct Tick {
    double value = 0;
    std::string text;
  };
  std::vector<Tick> ticks(std::size_t about = 5) const;  // at most 3 * about + 6, at least one
  // With one tick per this number of pixels.
  std::vector<Tick> ticks_along(double length, double pitch) const;

 private:
  ChartAxis(std::string quantity, std::string unit, double low, double high, bool logarithmic);
  std::vector<double> even_ticks(std::size_t about) const;         // in the unit of the title
  std::vector<double> logarithmic_ticks(std::size_t about) const;  // the same
  std::string quantity_, unit_;
  double low_, high_;
  bool logarithmic_;
  bool binary_ = false;
  double factor_ = 1;
  std::string prefix_;
};

// The area of a plot with an axis below and one to the left.
struct Plot {
  Box box;
  ChartAxis x, y;
  double px(double value) const { return box.x + box.width * x.place(value); }
  double py(double value) const { return box.bottom() - box.height * y.place(value); }
  Point at(double x_value, double y_value) const { return {px(x_value), py(y_value)}; }
};

// What the words on the left of a plot of this height need.
double axis_room(const ChartAxis& y, double height);
// The box of a plot that is alone in its row.
Box plot_box(const ChartAxis& y, double top, double height);
// Grid, ticks and titles; either side may go without its words where a neighbour has them.
void draw_axes(Canvas& canvas, const Plot& plot, bool words_below = true, bool words_left = true);

// Over a figure that has no caption beside it; empty: nothing. Returns where it ends.
struct FigureHead {
  std::string title, remark;
};
double draw_head(Canvas& canvas, const FigureHead& head);

// Words beside points, each where it hides no other and no obstacle; those without room are left
// out. Long ones are clipped.
struct Label {
  Point at;
  double radius = 3;  // of what is there
  std::string text;
  std::string fill = kInk;
};
// Adds one to a list; labels of one place are joined.
void add_label(const Label& label, std::vector<Label>& labels);
void draw_labels(Canvas& canvas, const Box& within, const std::vector<Label>& labels,
                 std::vector<Box> obstacles);
Box box_around(Point at, double radius);
bool overlap(const Box& a, const Box& b);

// Names over the segments of a bar. On one line they stand where the segments are, moved apart,
// with a line to each; those that need more lines are a legend.
struct SegmentName {
  double x = 0;  // middle of the segment
  std::string text, fill;
  bool there = true;  // else it is in other bars only, and gets no line
};
void draw_segment_names(Canvas& canvas, std::vector<SegmentName> names, double left, double right,
                        double bottom);
double segment_names_height(const std::vector<std::string>& names, double width);

}  // namespace mapsim
