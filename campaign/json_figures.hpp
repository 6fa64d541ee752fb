// SPDX-License-Identifier: Apache-2.0
// Figures of --json as a report takes them: for report_json.cpp and report_designs.cpp alone.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "campaign/json_results.hpp"

namespace mapsim {

// An entry that no run of mapsim can have written.
struct Unreadable {
  std::string problem;
};

// Each throws Unreadable where a figure is negative or beyond all machines, and Json's own error
// where an entry is not there or is of another kind.
double figure_at(const nlohmann::ordered_json& json, const char* key);
std::int64_t whole_at(const nlohmann::ordered_json& json, const char* key);  // up to 2^53
std::optional<double> number(const nlohmann::ordered_json& json, const char* key);
double clock_of(const nlohmann::ordered_json& json);  // of "clock_hz" [Hz]
// Machines and GPUs have names, as their files give them.
std::string machine_name(const nlohmann::ordered_json& json, const char* key);

// What `design` prints with --json.
DesignSearchResult design_search_of(const nlohmann::ordered_json& json);

}  // namespace mapsim
