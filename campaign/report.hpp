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

// Kernels on a GPU: predicted and measured times.
struct MeasuredResult {
  std::string gpu, source;               // source: name of the measurements file
  std::vector<PredictionSeries> series;  // one per precision and path
  std::vector<std::string> kernels;      // names of all points, series after series
};

struct ReportInput {
  std::string title;                 // empty: made from the results
  std::vector<std::string> sources;  // names of files, for the footer
  JsonResults results;               // those of databases, too
  std::vector<MeasuredResult> measured;
  std::vector<std::size_t> designs;  // numbers of those to draw layer by layer, with the best
};

// The most studies that are drawn; all are in the tables.
inline constexpr std::size_t kMostStudiesDrawn = 16;

// The page of a report; equal inputs give equal pages. Throws ConfigError if a design that was
// asked for is in no study.
Page report_page(const ReportInput& input);

// Figures of one study, in its colours (campaign/report_figures.cpp).
struct StudyColours {
  Colours nodes{Colours::Scheme::kNodes};
  Colours tensors{Colours::Scheme::kTensors};
};
PageFigure designs_figure(const Study& study, const StudyPoints& points, const std::string& name);
PageFigure design_energy_figure(const Study& study, const StudyPoints& points,
                                const std::string& name, StudyColours& colours);
// Figures of one design of it.
PageFigure layers_figure(const Study& study, const DesignResult& design, const std::string& name,
                         StudyColours& colours);
PageFigure breakdown_figure(const Study& study, const DesignResult& design, const std::string& name,
                            StudyColours& colours);
PageFigure roofline_figure(const Study& study, const DesignResult& design, const std::string& name);
bool has_roofline(const DesignResult& design);
// Figures of results that are in no study.
PageFigure histogram_figure(const HistogramResult& histogram, const std::string& name);
PageFigure front_figure(const FrontResult& front, const std::string& name);
// In campaign/report_designs.cpp; `name_of` makes names that are unique in the page.
Section design_search_section(const DesignSearchResult& result,
                              const std::function<std::string(const std::string&)>& name_of);
// The figure of a `design --json` as a file of its own (SVG): a front of objective and area, or how
// one step along each axis changes the best design.
std::string design_search_svg(const std::string& json);
PageFigure predictions_figure(const MeasuredResult& measured, const std::string& name);

// The effect of each setting of the best design, from designs of the campaign that differ in it
// alone; empty if there are none (campaign/report_sensitivity.cpp).
std::optional<PageFigure> sensitivity_figure(const Study& study, const std::string& name);

// In campaign/report_tables.cpp: the designs of a study, at most `rows` of them; the rows of the
// designs whose layers were read.
PageTable designs_table(const Study& study, const StudyPoints& points, std::size_t rows,
                        const std::string& name);
// The sums of all studies, one row per network and listed design.
PageTable sums_table(const std::vector<Study>& studies, const std::string& name);
PageTable points_table(const std::vector<Study>& studies, const std::string& name);

// The paths in which the designs of a study differ; a design's value, or nothing.
std::vector<std::string> setting_paths(const Study& study);
std::string setting_value(const DesignResult& design, const std::string& path);

std::string layers_name(const Study& study);  // "alexnet", "3 layers"

// What lights up together: designs of one campaign, layers of one network. Files may have
// campaigns of the same name, and layers without a network are only known by their campaign.
std::string designs_link(std::size_t source, const std::string& campaign);
std::string layers_link(const Study& study);

}  // namespace mapsim
