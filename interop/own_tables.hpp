// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/technology.hpp"

namespace mapsim {

// Our own energies and areas (arch/technology.hpp) for components of other tools' designs, which
// come without.

// The table whose process is nearest by the ratio of sizes; 45 nm where nothing is known (0).
Technology nearest_technology(double nanometres);

// By words in the class of a component and in the type of a DRAM: smartbuffer_RF, LPDDR4. LPDDR4
// has no table of its own: LPDDR5's is taken.
StorageKind own_storage_kind(const std::string& klass, bool off_chip, const std::string& type);

Figure own_wire_energy(Technology technology);  // pJ for a bit and mm

struct OwnMac {
  double energy = 0;  // pJ
  double area = 0;    // mm2
  std::string source;
  NumberFormat format = NumberFormat::kInteger;  // by the class: fpmac is float
};
OwnMac own_mac(Technology technology, const std::string& klass, Bits operand, Bits sum);

}  // namespace mapsim
