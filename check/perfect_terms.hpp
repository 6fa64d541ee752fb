// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/perfect_costs.hpp"

namespace mapsim::check {

// A sliding-window rank of a volume: points per tile of the rank, and those gained along each dim.
struct PerfectCosts::Window {
  const Rank* rank = nullptr;
  const std::uint32_t* index = nullptr;            // per tile
  const std::vector<double>* united = nullptr;     // per tile of the rank
  std::vector<const std::vector<double>*> gained;  // per dim of the rank; none where nothing slides
};

// V of docs/model.md: constant * prod_{d not in t} E_d/T_d * prod over windows.
struct PerfectCosts::Volume {
  double constant = 1;
  std::vector<Window> windows;
};

// The flow at an end of a boundary.
struct PerfectCosts::End {
  Volume crossing;
  Volume met;  // outputs: distinct sums of the whole run, which cross without coming down first
};

// The network of a fanout between parent and child.
struct PerfectCosts::Network {
  bool merges = false;
  NetworkEnergy energy;
  double route = 0;  // hops to one group of instances that are served together, on average
  double group_size = 1;
  End outer;  // what is left at its outer end, if it merges; what a copy of it meets
};

struct PerfectCosts::Terms {
  BoundaryUse use;
  End outer, inner, busy_outer, busy_inner;
  std::vector<Network> networks;                   // innermost first; none if they cost nothing
  const std::vector<double>* tile_bits = nullptr;  // where first fills and last drains count
};

}  // namespace mapsim::check
