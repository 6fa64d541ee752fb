// SPDX-License-Identifier: Apache-2.0
#include "costmodel/resource_vector.hpp"

namespace mapsim {

std::vector<Port> ports_of(const Arch& arch) {
  std::vector<Port> ports;
  for (const LevelId l : arch.levels.ids()) {
    for (const PortKind kind : kPorts) {
      if (const auto& rate = rate_of(arch.levels[l].bandwidth, kind)) {
        ports.push_back({l, kind, rate->count()});
      }
    }
  }
  return ports;
}

}  // namespace mapsim
