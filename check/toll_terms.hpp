// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/tolls.hpp"

namespace mapsim::check {

// A sliding-window rank of a volume: points per tile of the rank, and those gained along each dim.
struct Tolls::Window {
  const Rank* rank = nullptr;
  const std::uint32_t* index = nullptr;            // per tile
  const std::vector<double>* united = nullptr;     // per tile of the rank
  std::vector<const std::vector<double>*> gained;  // per dim of the rank; none where nothing slides
};

// V of docs/model.md: constant * prod_{d not in t} E_d/T_d * prod over windows.
struct Tolls::Volume {
  double constant = 1;
  std::vector<Window> windows;
};

// What a fanout between parent and child adds.
struct Tolls::Network {
  bool merges = false;
  double per_addition = 0;  // pJ
  double per_hop = 0;       // pJ/b
  double route = 0;         // hops to one group of instances that are served together, on average
  double group_size = 1;
  Volume leaves;  // what is left at its outer end, if it merges
  Volume met;     // distinct elements that a copy of it meets
};

struct Tolls::Terms {
  bool output = false;
  bool has_child = false;  // not the compute units, not a latch
  bool slides = false;
  bool final_above = false;  // the outer stand's sums are to arrive finished
  bool widths = false;
  double bits = 0;
  double partial_bits = 0;
  double distinct = 0;  // elements of the output
  Volume outer, inner, busy_outer, busy_inner;
  Volume met_outer, met_inner, met_busy_outer, met_busy_inner;  // outputs
  std::vector<Network> networks;  // innermost first; none if they cost nothing
  StorageEnergy outer_energy, inner_energy;
  std::optional<std::size_t> outer_reads, outer_writes, inner_reads, inner_writes,
      inner_link;                         // ports
  std::optional<BitsPerCycle> edge_rate;  // of the first fill or last drain
  double whole = 1;  // elements that pass a port above a systolic array for so many that are
  double used = 1;   // ... used, where whole tiles come
  bool pads_outer = false;
  bool pads_inner = false;
  const std::vector<double>* tile_bits = nullptr;
  double tile_width = 1;  // as its room has it
};

}  // namespace mapsim::check
