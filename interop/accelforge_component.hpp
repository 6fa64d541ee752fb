// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"
#include "core/reader.hpp"
#include "interop/accelforge_sets.hpp"
#include "interop/import_notes.hpp"

namespace mapsim {

// One instance of a memory, a toll or a compute unit of AccelForge. `read` stands for the
// operations of a compute unit, and for what passes a toll.
struct ForgeComponent {
  std::string name;
  bool enabled = true;
  double size = 0;             // bits; infinite: no limit
  double read_energy = 0;      // J per bit; of a compute unit per operation
  double write_energy = 0;     // J per bit
  double read_rate = 0;        // bits or operations per second; infinite: no limit
  double write_rate = 0;       // bits per second; infinite: no limit
  bool shares_port = true;     // reads and writes take turns
  bool counts_values = false;  // its energies are per value, whatever the width of a value
  StorageKind kind = StorageKind::kSram;
  Physical physical;
};

// Reads a component. Energies that the file leaves to a component class come from mapsim's tables,
// with a note; a class that has no table is an error. `attributes` are those of all components
// (nullptr: none). Errors go to the reader.
ForgeComponent read_forge_component(Reader& reader, const Node& node, const Node* attributes,
                                    const ForgeNames& names, ImportNotes& notes);

}  // namespace mapsim
