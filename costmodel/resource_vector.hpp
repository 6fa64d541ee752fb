// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/ports.hpp"

namespace mapsim {

// A port of finite bandwidth.
struct Port {
  LevelId level{};
  PortKind kind{};
  double bits_per_cycle = 0;
};
std::vector<Port> ports_of(const Arch& arch);  // outermost level first

// The tracked components of a cost. A cost is a resource vector: component 0 is the energy [pJ]; if
// ports are tracked, component 1 + q is the bits that the busiest instance moves through port q; if
// edges are, the last component is the cycles of first fills and last drains.
struct Tracked {
  bool ports = false;  // whatever depends on time, leakage too
  bool edges = false;  // for ramped latency; requires `ports`
};
constexpr std::size_t resources(Tracked tracked, std::size_t ports) {
  return 1 + (tracked.ports ? ports : 0) + (tracked.edges ? 1 : 0);
}

}  // namespace mapsim
