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

// What is asked for beside the energy. A cost is a resource vector: component 0 is the energy [pJ];
// if the ports are tracked, 1 + q the bits that the busiest instance moves through port q; if the
// edges are, the last one the cycles of first fills and last drains.
struct Tracked {
  bool ports = false;  // whatever depends on time, leakage too
  bool edges = false;  // ramped latency; only with the ports
};
constexpr std::size_t resources(Tracked tracked, std::size_t ports) {
  return 1 + (tracked.ports ? ports : 0) + (tracked.edges ? 1 : 0);
}

}  // namespace mapsim
