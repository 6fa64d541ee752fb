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

// What a set of Timeloop files says. Nothing is left out silently: what has no part in our model is
// in `notes`, what contradicts it is an error.
struct TimeloopImport {
  enum class Energies : std::uint8_t { kTheirs, kOwnTables, kLeftOut };
  bool has_machine = true;
  bool has_workload = true;
  TimeloopDesign design;  // blocks: empty without a mapping
  std::vector<TimeloopConstraint> constraints;
  std::string objective;  // of mapsim search, by the section `mapper`; empty: energy
  Energies energies = Energies::kTheirs;
  std::vector<std::string> notes;              // what matters most first
  std::map<std::string, std::string> origins;  // per component: where its numbers come from
};

struct TimeloopOptions {
  FrontEndSettings settings;  // what templates may use
  bool counts_only = false;   // every energy is zero
};

// Reads the sections of all files together: arch or architecture, ERT, problem, mapping, and
// constraints of a mapspace, templates resolved and expressions evaluated. There is an architecture
// or a problem, or both. Without an ERT energies come from our own tables. Throws ConfigError with
// all that is wrong with a file.
TimeloopImport read_timeloop(const std::vector<std::string>& paths,
                             const TimeloopOptions& options = {});
TimeloopImport parse_timeloop(const std::string& text, const std::string& filename,
                              const TimeloopOptions& options = {});

// The same design in our words. Words of Timeloop hold one element each, so every storage gets the
// width of the outermost one's words, whatever its own.
Arch to_arch(const TimeloopMachine& machine);
Mapping to_mapping(const TimeloopDesign& design);
// constraints.yaml: Timeloop's mapspace in our words. It is even, and what Timeloop's blocks cannot
// say is ruled out: no loops between a fanout and what stands below it, as far as that keeps
// something for sure.
std::string constraints_text(const TimeloopImport& import);

// And back: a mapping in Timeloop's blocks. Names of fanouts and storages are those of `arch`.
// A loop between a fanout and the next level kept goes above the fanout, which costs the same, or
// into a level between them that keeps nothing. Throws std::invalid_argument with what Timeloop
// cannot express: tensors of one level kept at different points, a loop below a fanout that unrolls
// its dim, two loops over one dim in a level, extents that do not divide each other.
std::vector<TimeloopBlock> to_timeloop_blocks(const Arch& arch, const Workload& workload,
                                              const Mapping& mapping);
TimeloopMachine to_timeloop_machine(const Arch& arch);

}  // namespace mapsim
