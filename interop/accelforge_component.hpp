// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"
#include "core/reader.hpp"
#include "interop/accelforge_sets.hpp"
#include "interop/import_notes.hpp"

namespace mapsim {

// A memory, a toll or a compute unit of AccelForge, one instance of it. Of a compute unit `read` is
// what it computes; of a toll, what passes it.
struct ForgeComponent {
  std::string name;
  bool enabled = true;
  double size = 0;             // bits; infinite: no limit
  double read_energy = 0;      // J, of a bit; of a compute unit of an operation
  double write_energy = 0;     // likewise
  double read_rate = 0;        // bits a second, or operations; infinite: no limit
  double write_rate = 0;       // likewise
  bool shares_port = true;     // reads and writes take turns
  bool counts_values = false;  // its energies are of values, however wide it has them
  StorageKind kind = StorageKind::kSram;
  Physical physical;
};

// Energies that the file leaves to a component class come from our own tables, and a note says so;
// a class that has no table is an error. `attributes` (may be absent) are those of all components.
ForgeComponent read_forge_component(Reader& reader, const Node& node, const Node* attributes,
                                    const ForgeNames& names, ImportNotes& notes);

}  // namespace mapsim
