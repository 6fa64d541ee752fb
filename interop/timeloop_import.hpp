// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/mapping.hpp"
#include "interop/front_end.hpp"
#include "interop/timeloop.hpp"

namespace mapsim {

// The content of a set of Timeloop files. Nothing is left out silently: `notes` name what mapsim's
// model does not use, and what contradicts it is an error.
struct TimeloopImport {
  enum class Energies : std::uint8_t { kTheirs, kOwnTables, kLeftOut };
  bool has_machine = true;
  bool has_workload = true;
  TimeloopDesign design;  // blocks: empty without a mapping
  std::vector<TimeloopConstraint> constraints;
  std::string objective;  // of mapsim search, by the section `mapper`; empty: energy
  Energies energies = Energies::kTheirs;
  std::vector<std::string> notes;              // the most important first
  std::map<std::string, std::string> origins;  // sources of numbers, by component
};

// How files are read.
struct TimeloopOptions {
  FrontEndSettings settings;  // values of names in templates
  bool counts_only = false;   // all energies are zero
};

// Reads the sections of all files together: arch or architecture, ERT, problem, mapping, and
// constraints of a mapspace, templates resolved and expressions evaluated. There is an architecture
// or a problem, or both. Without an ERT energies come from our own tables. Throws ConfigError with
// all that is wrong with a file.
TimeloopImport read_timeloop(const std::vector<std::string>& paths,
                             const TimeloopOptions& options = {});
TimeloopImport parse_timeloop(const std::string& text, const std::string& filename,
                              const TimeloopOptions& options = {});

// The design as a machine and a mapping of mapsim. A word of Timeloop holds one element, whatever
// its width, so every storage gets the word width of the outermost one.
Arch to_arch(const TimeloopMachine& machine);
Mapping to_mapping(const TimeloopDesign& design);
// Timeloop's mapspace as constraints.yaml: even, and without mappings that Timeloop's blocks cannot
// express, which have loops between a fanout and the node below it (if a tensor must be kept
// there).
std::string constraints_text(const TimeloopImport& import);

// The inverse: a mapping as Timeloop's blocks, with the names of `arch`. A loop between a fanout
// and the next level kept moves above the fanout, which costs the same, or into a level between
// them that keeps no tensor. Throws std::invalid_argument with what Timeloop cannot express:
// tensors of one level kept at different points, a loop below a fanout that unrolls its dim, two
// loops over one dim in a level, extents that do not divide each other.
std::vector<TimeloopBlock> to_timeloop_blocks(const Arch& arch, const Workload& workload,
                                              const Mapping& mapping);
// Names alone: of storages, and of the points below which version 0.4 puts instances.
TimeloopMachine to_timeloop_machine(const Arch& arch);

}  // namespace mapsim
