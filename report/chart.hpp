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

// A colour of figures on white paper, and the one that replaces it on a dark screen; "#rrggbb".
struct Paint {
  std::string_view light, dark;
};
inline constexpr const char* kInk = "#222222";     // text that must be read
inline constexpr const char* kMuted = "#666666";   // scales
inline constexpr const char* kGrid = "#e2e2e2";    // lines behind the data
inline constexpr const char* kShade = "#b8b8b8";   // data points that others dominate
inline constexpr const char* kAccent = "#0077bb";  // the data
inline constexpr const char* kSignal = "#cc3311";  // the reference that data are compared with
// Colours of figures of machines: nodes, instances in use, idle instances.
inline constexpr const char* kLevelFill = "#e3edf7";
inline constexpr const char* kFanoutFill = "#f3e9d2";
inline constexpr const char* kComputeFill = "#e2f0e4";
inline constexpr const char* kUsedFill = "#cfcfcf";
inline constexpr const char* kIdleFill = "#f7f7f7";
inline constexpr const char* kEdgeStroke = "#404040";
// By Role: colours of arrows and legends, and of instances in use where the tensor is stationary.
inline constexpr std::array kRoleColours{"#2f6fb0", "#c06a1f", "#2f8a4c"};
inline constexpr std::array kRoleTints{"#9ec5e8", "#eec79f", "#a8d8b5"};
const char* pale_fill(std::size_t index);  // of bars that carry text; index below 10
std::vector<Paint> paints();               // all colours of figures
// Rules of a style sheet that replace the light colours by the dark ones on a dark screen.
std::string dark_rules();
// `svg` with these rules in it, for a file of its own. A page has the rules once for all figures.
std::string standalone(const std::string& svg);

inline constexpr double kFigureWidth = 720;               // px
inline constexpr const char* kMarks = "class=\"marks\"";  // attribute of groups of data

// Gives each new name the next colour, so that a node or a tensor looks the same in all figures of
// a report. The colours are cool for nodes and warm for tensors, of schemes by Paul Tol
// (SRON/EPS/TN/09-002) that colour-blind readers can tell apart.
class Colours {
 public:
  enum class Scheme : unsigned char { kNodes, kTensors };
  explicit Colours(Scheme scheme) : scheme_{scheme} {}
  std::string of(const std::string& name);

 private:
  Scheme scheme_;
  std::vector<std::string> names_;
};

// A number with an SI prefix and `digits` significant digits: "12.3 mJ".
inline constexpr double kPicojoule = 1e-12;  // J
std::string si_text(double value, const std::string& unit, int digits = 3);

// An axis. Its title has the unit with the prefix that suits its high end: "energy (mJ)". Its ends
// are finite and distinct whatever the data are; values beyond an end are placed at the end.
class ChartAxis {
 public:
  // From 0 on, linear.
  static ChartAxis from_zero(std::string quantity, std::string unit, double high);
  // Around positive data: logarithmic, unless the data lie within a factor of four.
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
  // Ticks for an axis of `length` px, about one every `pitch` px.
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

// The area of a plot with an axis below it and one to its left; px() and py() are in px.
struct Plot {
  Box box;
  ChartAxis x, y;
  double px(double value) const { return box.x + box.width * x.place(value); }
  double py(double value) const { return box.bottom() - box.height * y.place(value); }
  Point at(double x_value, double y_value) const { return {px(x_value), py(y_value)}; }
};

// Width [px] of the text of the vertical axis of a plot of this height [px].
double axis_width(const ChartAxis& y, double height);
// The box [px] of a plot that is alone in its row and begins at `top`.
Box plot_box(const ChartAxis& y, double top, double height);
// Draws grid, ticks and titles; the text of an axis may be left out if a neighbour shows it.
void draw_axes(Canvas& canvas, const Plot& plot, bool words_below = true, bool words_left = true);

// Title and remark over a figure that has no caption; an empty one is not drawn.
struct FigureHead {
  std::string title, remark;
};
double draw_head(Canvas& canvas, const FigureHead& head);  // returns its lower end [px]

// Text beside a point. draw_labels() places labels where they hide neither each other nor an
// obstacle, clips long ones, and leaves out those for which there is no space.
struct PointLabel {
  Point at;
  double radius = 3;  // px, of the mark at the point
  std::string text;
  std::string fill = kInk;
};
// Adds a label to a list; labels of the same point are joined.
void add_label(const PointLabel& label, std::vector<PointLabel>& labels);
void draw_labels(Canvas& canvas, const Box& within, const std::vector<PointLabel>& labels,
                 std::vector<Box> obstacles);
Box box_around(Point at, double radius);
bool overlap(const Box& a, const Box& b);

// Names over the segments of a bar. If they fit one line, each stands over its segment, moved aside
// where names would overlap, with a line to the segment. Otherwise they form a legend.
struct SegmentName {
  double x = 0;  // middle of the segment
  std::string text, fill;
  bool there = true;  // false: the segment is in other bars only, and gets no line
};
void draw_segment_names(Canvas& canvas, std::vector<SegmentName> names, double left, double right,
                        double bottom);
double segment_names_height(const std::vector<std::string>& names, double width);  // px

}  // namespace mapsim
