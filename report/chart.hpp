// SPDX-License-Identifier: Apache-2.0
#pragma once
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
std::vector<Paint> paints();                       // all of them, and those below

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
std::string si_text(double value, const std::string& unit, int digits = 3);

// A scale of a figure. It is in the unit with the prefix that suits its end: "energy (mJ)".
class ChartAxis {
 public:
  // From 0 on, linear.
  static ChartAxis from_zero(std::string quantity, std::string unit, double high);
  // Around data above 0: logarithmic, unless it lies within a factor of four.
  static ChartAxis around(std::string quantity, std::string unit,
                          const std::vector<double>& values);
  // Logarithmic from edge to edge.
  static ChartAxis decades(std::string quantity, std::string unit, double low, double high);

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
  std::vector<Tick> ticks(std::size_t about = 5) const;

 private:
  ChartAxis(std::string quantity, std::string unit, double low, double high, bool logarithmic);
  std::string quantity_, unit_;
  double low_, high_;
  bool logarithmic_;
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

// Grid, ticks and titles; either side may go without its words where a neighbour has them.
void draw_axes(Canvas& canvas, const Plot& plot, bool words_below = true, bool words_left = true);

// Words beside points, each where it hides no other and no point; those without room are left out.
struct Label {
  Point at;
  double radius = 3;  // of what is there
  std::string text;
  std::string fill = kInk;
};
void draw_labels(Canvas& canvas, const Box& within, const std::vector<Label>& labels,
                 const std::vector<Point>& obstacles);

// Names over the segments of a bar: where they are, moved apart, with a line to each.
struct SegmentName {
  double x = 0;  // middle of the segment
  std::string text, fill;
  bool there = true;  // else it is in other bars only, and gets no line
};
void draw_segment_names(Canvas& canvas, std::vector<SegmentName> names, double left, double right,
                        double bottom);

}  // namespace mapsim
