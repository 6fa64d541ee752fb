// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/reader.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop.hpp"
#include "interop/timeloop_components.hpp"

namespace mapsim {

// The properties of a component by which tables give its energies: class, technology, and the
// attributes of arithmetic.
struct TimeloopMaterial {
  std::string klass;                 // class and subclass
  std::string technology;            // "45nm"; empty: not given
  std::string type;                  // of a DRAM: "LPDDR4"
  std::int64_t multiplier_bits = 0;  // 0: not given
  std::int64_t adder_bits = 0;
  const Node* multiplier_at = nullptr;  // the attribute that says multiplier_bits by itself
};

// An attribute around a component that Timeloop does not hand to it.
struct TimeloopUnread {
  std::string component;
  const Entry* attribute = nullptr;
};

// The wires below a storage, from which Timeloop computes the energy of a hop if energy_per_hop is
// not given.
struct TimeloopWires {
  const Node* at = nullptr;      // the attribute, or the storage
  std::optional<double> energy;  // pJ/(b mm)
  std::optional<double> hop;     // length of a hop [mm]
  std::int64_t word_bits = 0;    // of the network
};

// An architecture, and all facts about it that its readers need.
struct TimeloopArchSection {
  TimeloopMachine machine;
  std::map<std::string, TimeloopWires> wires;  // of each storage
  // Notes about places: what costs nothing here but may in Timeloop, and what is guessed.
  std::vector<std::pair<const Node*, std::string>> placed;
  // The component of which Accelergy makes the wire of all networks (src/model/topology.cpp,
  // ParseAccelergyERT looks it up by its name).
  const Node* wire = nullptr;
  std::string wire_technology;
  std::map<std::string, TimeloopMaterial> materials;  // of each storage and the compute units
  std::vector<TimeloopUnread> unread;
  ImportNotes notes;
  std::vector<TimeloopPlacedConstraint> constraints;
  std::vector<TimeloopPlacedSparse> sparse;
  // Storages of the class dummy_storage: no buffers, but points where the front end unrolls loops.
  std::set<std::string> dummies;
  // Storages without entries, which can keep no tensor.
  std::set<std::string> empty;
  // Energies [pJ] per access, or per MAC, that components give themselves.
  std::map<std::string, double> access_energies;
  // Those dummies that are only a name of the fanout below the storage above.
  std::set<std::string> absorbed;
  // Storages of version 0.4, in which a rule for the instances of a component is about those that
  // itself makes, not about what is below it.
  std::set<std::string> of_nodes;
  std::string clocked_by;  // the component that gave the length of a cycle
};
// The section `arch` or `architecture`: the flat form (arithmetic, storage), the nested one
// (subtree, local) and the list of nodes of version 0.4, their templates resolved. Energies of
// accesses and MACs are not in it (arch/accelergy.hpp). `notes` name what changes neither counts
// nor cycles nor energies (technology, ports for an estimator ...); what would change them and has
// no counterpart is an error. Constraints inside of components are collected for
// timeloop_constraints.hpp.
TimeloopArchSection read_timeloop_arch(Reader& reader, const Node& section);

// Takes the clock of the machine from a value of global_cycle_seconds [s], which Accelergy and the
// front end of version 0.4 hand to every component (`of`). Counts and cycles do not depend on it,
// seconds and watts do. Two values that differ are an error; a text that is no number is a note.
// nullptr: not given.
void read_timeloop_cycle(Reader& reader, const Node* node, const std::string& of,
                         TimeloopArchSection& out);

}  // namespace mapsim
