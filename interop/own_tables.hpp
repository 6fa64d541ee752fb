// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/technology.hpp"

namespace mapsim {

// mapsim's energies and areas (arch/technology.hpp) for components of other tools' designs that
// have none.

// The technology whose size is nearest by ratio; 45 nm if the size is unknown (0).
Technology nearest_technology(double nanometres);

// The kind of a memory, by words in the class of its component (smartbuffer_RF) and in the type of
// a DRAM. LPDDR4 has no table of its own, so LPDDR5's is taken.
StorageKind own_storage_kind(const std::string& klass, bool off_chip, const std::string& type);

Figure own_wire_energy(Technology technology);  // pJ per bit and mm

// Energy and area of a MAC with these widths.
struct OwnMac {
  double energy = 0;  // pJ
  double area = 0;    // mm2
  std::string source;
  NumberFormat format = NumberFormat::kInteger;  // by the class (fpmac: float)
};
OwnMac own_mac(Technology technology, const std::string& klass, Bits operand, Bits sum);

}  // namespace mapsim
