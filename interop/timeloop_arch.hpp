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

// What a component is made of, for those who have a table of energies: its class, the technology
// and the attributes of arithmetic.
struct TimeloopMaterial {
  std::string klass;                 // class and subclass
  std::string technology;            // "45nm"; empty: not said
  std::string type;                  // of a DRAM: "LPDDR4"
  std::int64_t multiplier_bits = 0;  // 0: not said
  std::int64_t adder_bits = 0;
};

// Of the wires below a storage: what Timeloop computes the energy of a hop from, where nothing says
// energy_per_hop.
struct TimeloopWires {
  const Node* at = nullptr;      // where the design says so, or the storage
  std::optional<double> energy;  // pJ/(b mm)
  std::optional<double> hop;     // length of a hop [mm]
  std::int64_t word_bits = 0;    // of the network
};

struct TimeloopArchSection {
  TimeloopMachine machine;
  std::map<std::string, TimeloopWires> wires;  // of each storage
  // What a note says of a place: what costs nothing here, and might in Timeloop; what is guessed.
  std::vector<std::pair<const Node*, std::string>> placed;
  // The component of which Accelergy makes the wire of all networks (src/model/topology.cpp,
  // ParseAccelergyERT looks it up by its name).
  const Node* wire = nullptr;
  std::string wire_technology;
  std::map<std::string, TimeloopMaterial> materials;  // of each storage and the compute units
  ImportNotes notes;
  std::vector<TimeloopPlacedConstraint> constraints;
  std::vector<TimeloopPlacedSparse> sparse;
  // Of the class dummy_storage: no buffer, but a point where the front end unrolls loops.
  std::set<std::string> dummies;
  // Of no entries: nothing can be kept there.
  std::set<std::string> empty;
  // Of an access of a storage that says so itself [pJ].
  std::map<std::string, double> access_energies;
  // Those dummies that are only a name of the fanout below the storage above.
  std::set<std::string> absorbed;
  // Storages of version 0.4, in which a rule for the instances of a component is about those that
  // itself makes, not about what is below it.
  std::set<std::string> of_nodes;
  std::string clocked_by;  // what said how long a cycle is
};
// The section `arch` or `architecture`: the flat form (arithmetic, storage), the nested one
// (subtree, local) and the list of nodes of version 0.4, their templates resolved. Energies of
// accesses and MACs are not in it (arch/accelergy.hpp). What has no part in counts, cycles and
// energies (technology, ports for an estimator ...) is named in `notes`; whatever would change them
// and cannot be said here is an error. Constraints inside of components are collected for
// timeloop_constraints.hpp.
TimeloopArchSection read_timeloop_arch(Reader& reader, const Node& section);

// Takes the clock of the machine from a value of global_cycle_seconds [s], which Accelergy and the
// front end of version 0.4 hand to every component (`of`). Counts and cycles do not depend on it,
// seconds and watts do. Two values that differ are an error; a text that is no number is a note.
// nullptr: not given.
void read_timeloop_cycle(Reader& reader, const Node* node, const std::string& of,
                         TimeloopArchSection& out);

}  // namespace mapsim
