// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace mapsim {

// The figures of a report as SVG, for the page and for a paper. Data are shapes in groups of class
// "marks". `label` describes a figure to readers who cannot see it.

// Horizontal bars in one panel or several side by side, which share the names of their rows.
struct BarPart {
  std::string name, fill;
};
struct BarPanel {
  std::string quantity, unit;
  std::vector<BarPart> parts;               // named over the first bar if there are several
  std::vector<std::vector<double>> values;  // row, part; empty rows have nothing to show
  std::vector<std::string> ends;            // text behind each bar
  std::vector<double> needles;              // a line across each bar; negative: none
  double share = 1;                         // weight of its width among the panels
};
std::string bars_svg(const std::string& label, const std::vector<std::string>& rows,
                     const std::vector<BarPanel>& panels);

// A roofline: operations per second over operations per byte (Williams et al., CACM 52(4), 2009).
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
  std::string note{};  // over the plot: names what is not drawn as a point
};
std::string roofline_svg(const std::string& label, const RooflineChart& chart);

// Designs by energy, latency and, if known, area; each pair of figures has a panel.
struct DesignPoint {
  std::string name, title;
  double energy = 0;           // J
  double seconds = 0;          // s
  std::optional<double> area;  // mm²
  bool on_front = false;       // no other design dominates it in these figures
  bool chosen = false;         // drawn with a ring
};
std::string designs_svg(const std::string& label, const std::vector<DesignPoint>& points);
// Sets on_front. If a point has no area, areas are not compared.
void mark_front(std::vector<DesignPoint>& points);

// A tornado chart: how far each setting (a row) moves a figure below and above its value.
struct TornadoEnd {
  double change = 0;   // share: -0.2 is 20 % less
  std::string name;    // the value of the setting; empty: no value moves the figure this way
  std::string design;  // "17: ", before the title
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

// A Pareto front as steps. Points are numbered from 1 in their order.
struct FrontDot {
  double x = 0, y = 0;
  std::string title;     // its figures; the number is written before them
  std::string number{};  // empty: its position among the points
};
struct FrontChart {
  FigureHead head;
  ChartAxis x, y;
  std::vector<FrontDot> points;
};
std::string front_svg(const std::string& label, const FrontChart& chart);

// A histogram of energies: one more edge [J] than counts. No counts: no mapping fits.
struct EnergyBins {
  std::vector<double> edges;
  std::vector<double> counts;
  std::optional<double> optimum;  // J
  FigureHead head{};
};
std::string energies_svg(const std::string& label, const EnergyBins& bins);

// Predicted over measured times [s].
struct PredictionSeries {
  std::string name, remark;    // `remark`: the error of the predictions
  std::vector<Point> seconds;  // x measured, y predicted
};
std::string predictions_svg(const std::string& label, const std::vector<PredictionSeries>& series);

}  // namespace mapsim
