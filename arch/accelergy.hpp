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

// Accelergy's tables by the last part of a component's name: system.chip.buffer[1..16] is "buffer".
// Of several entries of one action (for other arguments) the largest counts, as in Timeloop.
using Actions = std::span<const char* const>;
struct EnergyReferences {
  std::string file;
  std::map<std::string, std::map<std::string, Picojoules>> components;  // per action
  // The first action of `actions` that the component has.
  std::optional<Picojoules> find(const std::string& component, Actions actions) const;
  const char* action_of(const std::string& component, Actions actions) const;  // or nullptr
};

// The actions that tell an energy, the first that is there: the names and the order in which
// Timeloop looks them up (include/model/topology.hpp, storageOperationMappings). `leak` is per
// cycle and instance. What is not named here (idle, metadata_read ...) is not known here.
inline constexpr std::array kReadActions{"random_read", "read"};
inline constexpr std::array kWriteActions{"random_fill", "random_write", "fill", "write"};
inline constexpr std::array kUpdateActions{"random_update", "random_write", "update", "write"};
inline constexpr std::array kComputeActions{"mac_random", "mult_random", "mac", "mult", "compute"};
inline constexpr std::array kLeakActions{"leak"};
// Of accesses and operations that zeros spare.
inline constexpr std::array kGatedActions{"gated_read", "gated_fill", "gated_write",
                                          "gated_update"};
inline constexpr std::array kSkippedActions{"skipped_read", "skipped_fill", "skipped_write",
                                            "skipped_update"};
inline constexpr std::array kGatedComputeActions{"mac_gated", "mult_gated", "compute_gated",
                                                 "gated_compute"};
inline constexpr std::array kSkippedComputeActions{"mac_skipped", "mult_skipped", "compute_skipped",
                                                   "skipped_compute"};
// Those actions of a component that a machine without zeros does not take.
std::vector<std::string> other_actions(const EnergyReferences& table, const std::string& component);
struct AreaReferences {
  std::string file;
  std::map<std::string, SquareMillimetres> components;
};

// `ERT: {version, tables: [{name, actions: [{name, energy, arguments?}]}]}`, energies in pJ, and
// `ART: {version, tables: [{name, area}]}`, areas in square micrometres; or the summaries
// (ERT_summary, ART_summary). Throws ConfigError.
EnergyReferences parse_ert(const std::string& text, const std::string& filename);
AreaReferences parse_art(const std::string& text, const std::string& filename);
EnergyReferences load_ert(const std::string& path);
AreaReferences load_art(const std::string& path);
// The value of `ERT` or `ART` alone, as a file of another tool holds it; `file` stays empty.
EnergyReferences read_energy_tables(Reader& reader, const Node& section);
AreaReferences read_area_tables(Reader& reader, const Node& section);

}  // namespace mapsim
