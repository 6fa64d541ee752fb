// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/fusion/chain_search.hpp"

namespace mapsim {

struct ChainPoint {
  MappingTree tree;
  TreeCost cost;
};

// The trees of a chain of which no other has less energy and no more latency, or the reverse.
struct ChainFront {
  std::vector<ChainPoint> points;  // energy ascending, latency descending
  std::vector<HullLine> lines;     // no tree is below them
  bool complete = false;           // else it was stopped: there may be others
  std::int64_t searches = 0;
  double seconds = 0;
  bool out_of_memory = false;  // stopped because it was short
  std::size_t peak_bytes = 0;  // of a search at most
};

// Within the objective's limits, if it has any; its function is not used.
ChainFront search_chain_front(const Arch& arch, const EinsumChain& chain,
                              const FusionLimits& limits, const SearchOptions& options);

namespace fusion {

// The best tree within the objective's limits.
ChainResult search_within_limits(const Arch& arch, const EinsumChain& chain,
                                 const FusionLimits& limits, const SearchOptions& options);

}  // namespace fusion

}  // namespace mapsim
