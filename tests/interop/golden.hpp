// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "interop/timeloop_compare.hpp"

namespace mapsim {

// A design and what Timeloop printed about it.
struct Golden {
  std::string id;
  std::filesystem::path input;     // YAML
  std::filesystem::path expected;  // JSON
};

// The folder that MAPSIM_GOLDENS names; empty without it.
std::filesystem::path collected_folder();

// Those in the tree, or all of the collection that MAPSIM_GOLDENS names (empty without it).
std::vector<Golden> kept_goldens();
std::vector<Golden> collected_goldens();

// Of Timeloop as it is, or of a run with something switched off; nullopt: there was no such run.
std::optional<TimeloopResult> read_result(const Golden& golden, const TimeloopDesign& design,
                                          const std::string& run = "expected");

}  // namespace mapsim
