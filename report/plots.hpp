// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace mapsim {

// The figures of a report as SVG files: as they are in the page, and as they go into a paper. Data
// are shapes in groups of class "marks".

// Horizontal bars with common row names, one panel or several.
struct BarPart {
  std::string name, fill;
};
struct BarPanel {
  std::string quantity, unit;
  std::vector<BarPart> parts;               // named over the first bar if there are several
  std::vector<std::vector<double>> values;  // row, part; empty rows have nothing to show
  std::vector<std::string> ends;            // words behind each bar
  std::vector<double> needles;              // a line across each bar; negative: none
  double share = 1;                         // of the width, beside the other panels
};
std::string bars_svg(const std::string& label, const std::vector<std::string>& rows,
                     const std::vector<BarPanel>& panels);

// Operations per second over operations per byte (Williams et al., CACM 52(4), 2009).
struct RooflinePoint {
  std::string name;
  double intensity = 0;    // op/B
  double performance = 0;  // op/s
  double share = 0;        // of the time: the area of the dot
};
struct RooflineChart {
  double peak_ops = 0;                   // op/s
  std::vector<double> bytes_per_second;  // of different mixes of tensors; empty: no limit
  std::vector<RooflinePoint> points;
  std::string note{};  // over the plot: what is no point in it
};
std::string roofline_svg(const std::string& label, const RooflineChart& chart);

// Designs by energy, latency and, where known, area: each pair of them a panel.
struct DesignPoint {
  std::string name, title;
  double energy = 0;           // J
  double seconds = 0;          // s
  std::optional<double> area;  // mm²
  bool on_front = false;       // none is better in one of the three and as good in the others
  bool chosen = false;         // drawn with a ring
};
std::string designs_svg(const std::string& label, const std::vector<DesignPoint>& points);
// Sets on_front; where one point has no area, areas count for nothing.
void mark_front(std::vector<DesignPoint>& points);

// What changes a figure, and how much: bars to both sides of 0, one row per cause.
struct TornadoEnd {
  double change = 0;   // share: -0.2 is 20 % less
  std::string name;    // of what makes it; empty: nothing changes that way
  std::string design;  // "17: ", before its title
};
struct TornadoSwing {
  TornadoEnd low, high;  // at most 0, at least 0
};
struct TornadoPanel {
  std::string quantity;
  std::vector<TornadoSwing> swings;  // one per row
};
std::string tornado_svg(const std::string& label, const std::vector<std::string>& rows,
                        const std::vector<TornadoPanel>& panels);

// A front: steps that nothing lies below. Points in the order of their numbers, from 1.
struct FrontDot {
  double x = 0, y = 0;
  std::string title;     // its figures; the number comes before it
  std::string number{};  // empty: its place among the dots
};
struct FrontChart {
  FigureHead head;
  ChartAxis x, y;
  std::vector<FrontDot> points;
};
std::string front_svg(const std::string& label, const FrontChart& chart);

// How many mappings need how much energy; edges in J, one more than counts; no counts: no mapping.
struct EnergyBins {
  std::vector<double> edges;
  std::vector<double> counts;
  std::optional<double> optimum;  // J
  FigureHead head{};
};
std::string energies_svg(const std::string& label, const EnergyBins& bins);

// Times, predicted over measured.
struct PredictionSeries {
  std::string name, remark;    // the remark: how good they are
  std::vector<Point> seconds;  // x measured, y predicted
};
std::string predictions_svg(const std::string& label, const std::vector<PredictionSeries>& series);

}  // namespace mapsim
