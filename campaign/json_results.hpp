// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/report_data.hpp"
#include "report/designs.hpp"

namespace mapsim {

// Reads what commands print with --json: `network`, `search` and `eval` as a study of one design,
// `histogram`, fronts and `design` as such. Throws ConfigError for anything else, and for unknown
// schemas.
struct HistogramResult {
  std::string arch, workload, mapspace_size;
  std::int64_t mappings = 0;
  std::vector<double> edges_pj, counts;
  std::optional<double> optimum_pj;
  std::string widths{};  // as of LayerResult
};
struct FrontResult {
  std::string arch, workload;
  bool complete = false;
  std::vector<std::pair<double, double>> points;  // pJ, s
  std::string widths{};                           // as of LayerResult
};
// A search for the best design of a space.
struct DesignSearchResult {
  std::string campaign;
  bool is_front = false;              // of objective and area
  FoundDesigns found;                 // as figures show it
  std::vector<DesignResult> answers;  // the same designs, with sums of their layers only
  std::string proof;                  // how each design was decided, in words
  std::vector<std::string> edges;     // axes of which the best design has an end value, in words
  std::size_t source = 0;             // as of Study
};
struct JsonResults {
  std::vector<Study> studies;
  std::vector<HistogramResult> histograms;
  std::vector<FrontResult> fronts;
  std::vector<DesignSearchResult> design_searches{};
};
void read_json_results(const std::string& text, const std::string& filename, JsonResults& into);

}  // namespace mapsim
