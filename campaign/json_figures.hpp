// SPDX-License-Identifier: Apache-2.0
// Readers of figures in --json, for report_json.cpp and report_designs.cpp only.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "campaign/json_results.hpp"

namespace mapsim {

// An entry that mapsim cannot have written.
struct Unreadable {
  std::string problem;
};

// Each throws Unreadable if a figure is negative or larger than any machine's, and Json's own error
// if an entry is absent or has another type.
double figure_at(const nlohmann::ordered_json& json, const char* key);
std::int64_t whole_at(const nlohmann::ordered_json& json, const char* key);  // up to 2^53
std::optional<double> number(const nlohmann::ordered_json& json, const char* key);
double clock_of(const nlohmann::ordered_json& json);  // of "clock_hz" [Hz]
// The name of a machine or a GPU, as in its file.
std::string machine_name(const nlohmann::ordered_json& json, const char* key);

// Reads what `design` prints with --json.
DesignSearchResult design_search_of(const nlohmann::ordered_json& json);

}  // namespace mapsim
