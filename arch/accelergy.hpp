// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "core/units.hpp"

namespace mapsim {

// An Accelergy table (ERT) by the last part of components' names: system.chip.buffer[1..16] is
// "buffer". If an action has several entries (for other arguments), the largest counts (Timeloop).
using Actions = std::span<const char* const>;
struct EnergyReferences {
  std::string file;
  std::map<std::string, std::map<std::string, Picojoules>> components;  // per action
  // The first of `actions` that the component has: its energy, its name (nullptr: it has none).
  std::optional<Picojoules> find(const std::string& component, Actions actions) const;
  const char* action_of(const std::string& component, Actions actions) const;
};

// The actions that give an energy, in the order in which Timeloop looks them up
// (include/model/topology.hpp, storageOperationMappings); the first one that exists counts. `leak`
// is per cycle and instance. Other actions (idle, metadata_read ...) are not used.
inline constexpr std::array kReadActions{"random_read", "read"};
inline constexpr std::array kWriteActions{"random_fill", "random_write", "fill", "write"};
inline constexpr std::array kUpdateActions{"random_update", "random_write", "update", "write"};
inline constexpr std::array kComputeActions{"mac_random", "mult_random", "mac", "mult", "compute"};
inline constexpr std::array kLeakActions{"leak"};
// Those of accesses and operations that are gated or skipped because of zeros.
inline constexpr std::array kGatedActions{"gated_read", "gated_fill", "gated_write",
                                          "gated_update"};
inline constexpr std::array kSkippedActions{"skipped_read", "skipped_fill", "skipped_write",
                                            "skipped_update"};
inline constexpr std::array kGatedComputeActions{"mac_gated", "mult_gated", "compute_gated",
                                                 "gated_compute"};
inline constexpr std::array kSkippedComputeActions{"mac_skipped", "mult_skipped", "compute_skipped",
                                                   "skipped_compute"};
// The actions of a component that a machine without zeros does not use.
std::vector<std::string> other_actions(const EnergyReferences& table, const std::string& component);
struct AreaReferences {  // an Accelergy table (ART), by the same names
  std::string file;
  std::map<std::string, SquareMillimetres> components;
};

// `ERT: {version, tables: [{name, actions: [{name, energy, arguments?}]}]}`, energies in pJ, and
// `ART: {version, tables: [{name, area}]}`, areas in square micrometres; or the summaries
// (ERT_summary, ART_summary). They throw ConfigError.
EnergyReferences parse_ert(const std::string& text, const std::string& filename);
AreaReferences parse_art(const std::string& text, const std::string& filename);
EnergyReferences load_ert(const std::string& path);
AreaReferences load_art(const std::string& path);
// Reads the value of `ERT` or `ART` in a file of another tool; `file` stays empty.
EnergyReferences read_energy_tables(Reader& reader, const Node& section);
AreaReferences read_area_tables(Reader& reader, const Node& section);

}  // namespace mapsim
