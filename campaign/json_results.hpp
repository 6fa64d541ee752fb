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

// What `network`, `search` and `eval` print with --json, as a study of one design; `histogram`,
// fronts and `design` as what they are. Throws ConfigError where it is none of these, or of another
// schema.
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
  std::vector<DesignResult> answers;  // the same designs; of their layers the sums alone
  std::string proof;                  // what became of the designs, in words
  std::vector<std::string> edges;     // axes at an end of which the best design lies, in words
};
struct JsonResults {
  std::vector<Study> studies;
  std::vector<HistogramResult> histograms;
  std::vector<FrontResult> fronts;
  std::vector<DesignSearchResult> design_searches{};
};
void read_json_results(const std::string& text, const std::string& filename, JsonResults& into);

}  // namespace mapsim
