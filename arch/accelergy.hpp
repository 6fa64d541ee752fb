// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/reader.hpp"
#include "core/units.hpp"

namespace mapsim {

// Accelergy's tables by the last part of a component's name: system.chip.buffer[1..16] is "buffer".
// Of several entries of one action (for other arguments) the largest counts, as in Timeloop.
struct EnergyReferences {
  std::string file;
  std::map<std::string, std::map<std::string, Picojoules>> components;  // per action
  // The first action of `actions` that the component has.
  std::optional<Picojoules> find(const std::string& component,
                                 std::initializer_list<const char*> actions) const;
};
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
// The value of `ERT` alone, as a file of another tool holds it; `file` stays empty.
EnergyReferences read_energy_tables(Reader& reader, const Node& section);

}  // namespace mapsim
