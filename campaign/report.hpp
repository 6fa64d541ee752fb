// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/json_results.hpp"
#include "campaign/report_data.hpp"
#include "campaign/report_select.hpp"
#include "report/page.hpp"
#include "report/plots.hpp"

namespace mapsim {

// Kernels on a GPU: how long the model says, how long they took.
struct MeasuredResult {
  std::string gpu, source;               // source: name of the measurements file
  std::vector<PredictionSeries> series;  // one per precision and path
  std::vector<std::string> kernels;      // names of all points, series after series
};

struct ReportInput {
  std::string title;                 // empty: what the results are of
  std::vector<std::string> sources;  // names of files, for the footer
  JsonResults results;               // those of databases, too
  std::vector<MeasuredResult> measured;
  std::vector<std::size_t> designs;  // numbers of those to draw layer by layer, beside the best
};

// Studies beyond this many are in the tables, but not drawn.
inline constexpr std::size_t kMostStudiesDrawn = 16;

// What is drawn of everything there is; equal input gives an equal page. Throws ConfigError where a
// design that was asked for is in no study.
Page report_page(const ReportInput& input);

// Of one study, in its colours (campaign/report_figures.cpp).
struct StudyColours {
  Colours nodes{Colours::Scheme::kNodes};
  Colours tensors{Colours::Scheme::kTensors};
};
PageFigure designs_figure(const Study& study, const StudyPoints& points, const std::string& name);
PageFigure design_energy_figure(const Study& study, const StudyPoints& points,
                                const std::string& name, StudyColours& colours);
// Of one design of it.
PageFigure layers_figure(const Study& study, const DesignResult& design, const std::string& name,
                         StudyColours& colours);
PageFigure breakdown_figure(const Study& study, const DesignResult& design, const std::string& name,
                            StudyColours& colours);
PageFigure roofline_figure(const Study& study, const DesignResult& design, const std::string& name);
bool has_roofline(const DesignResult& design);
// Of what is in no study.
PageFigure histogram_figure(const HistogramResult& histogram, const std::string& name);
PageFigure front_figure(const FrontResult& front, const std::string& name);
// campaign/report_designs.cpp; `name_of` makes names that are unique in the page.
Section design_search_section(const DesignSearchResult& result,
                              const std::function<std::string(const std::string&)>& name_of);
// The figure of what `design` prints with --json, in a file of its own (SVG): objective against
// area of a front, or what one step along each axis changes of the best design.
std::string design_search_svg(const std::string& json);
PageFigure predictions_figure(const MeasuredResult& measured, const std::string& name);

// What one setting of the best design is worth, from designs of the campaign that differ in it
// alone; none: there are no such (campaign/report_sensitivity.cpp).
std::optional<PageFigure> sensitivity_figure(const Study& study, const std::string& name);

// campaign/report_tables.cpp: the designs of a study, as many as `rows` has room for; the rows of
// the designs whose layers were read.
PageTable designs_table(const Study& study, const StudyPoints& points, std::size_t rows,
                        const std::string& name);
// The sums of all studies, one row for each network on each design that is listed.
PageTable sums_table(const std::vector<Study>& studies, const std::string& name);
PageTable points_table(const std::vector<Study>& studies, const std::string& name);

// The paths that set the designs of a study apart; a design's value, or nothing.
std::vector<std::string> setting_paths(const Study& study);
std::string setting_value(const DesignResult& design, const std::string& path);

std::string layers_name(const Study& study);  // "alexnet", "3 layers"

}  // namespace mapsim
