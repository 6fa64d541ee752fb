// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/perfect_costs.hpp"

namespace mapsim::check {

// The factor of a sliding-window rank in a volume: points per tile of the rank, and those gained by
// a step along each of its dims.
struct PerfectCosts::Window {
  const Rank* rank = nullptr;
  const std::uint32_t* index = nullptr;            // per tile
  const std::vector<double>* united = nullptr;     // per tile of the rank
  std::vector<const std::vector<double>*> gained;  // per dim of the rank; empty if nothing slides
};

// V of docs/model.md, the elements that cross: constant * prod over dims d not in t of E_d/T_d *
// the windows.
struct PerfectCosts::Volume {
  double constant = 1;
  std::vector<Window> windows;
};

// The elements that cross at one end of a boundary.
struct PerfectCosts::End {
  Volume crossing;
  Volume met;  // outputs: distinct sums of the whole run; their first crossing reads nothing back
};

// The network of a fanout between the two ends.
struct PerfectCosts::Network {
  bool merges = false;
  NetworkEnergy energy;
  double route = 0;  // mean hops to a group of instances that is served together
  double group_size = 1;
  End outer;  // the elements at its outer end, and the sums met there
};

struct PerfectCosts::Coefficients {
  BoundaryUse use;
  End outer, inner, busy_outer, busy_inner;
  std::vector<Network> networks;  // innermost first; empty if they cost nothing
  // Only if cycles of first fills and last drains count
  const std::vector<double>* tile_bits = nullptr;
};

}  // namespace mapsim::check
