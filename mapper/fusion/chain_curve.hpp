// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "mapper/front.hpp"
#include "mapper/fusion/chain_search.hpp"

namespace mapsim {

// A step of a curve: the least value of the objective for every capacity from this one up to that
// of the step before.
struct ChainStep {
  Bits capacity{0};
  ChainResult result;  // its tree takes that capacity
};

// The least value of a chain's mapping trees as a function of one capacity, all else equal,
// energies included. With less capacity than the last step's, no tree fits.
struct ChainCurve {
  std::vector<ChainStep> steps;  // capacity descending, value ascending
  std::int64_t searches = 0;
  double seconds = 0;
  bool complete = true;  // else it was stopped: with less than the last step's nothing is known
};

// Makes one proven search per step, or several where trees of one value take different capacities.
// An optimum that takes U bits is also the optimum at every capacity from U to the one searched,
// so the next search has U - 1 bits. `progress` is called before each search. All searches share
// the budget; the curve ends with a search that is stopped or exceeds it.
ChainCurve search_chain_curve(const Arch& arch, const EinsumChain& chain,
                              const FusionLimits& limits, const SearchOptions& options,
                              const CurveCapacity& of,
                              const std::function<void(Bits capacity)>& progress);

}  // namespace mapsim
