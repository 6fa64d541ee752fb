// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "mapper/front.hpp"
#include "mapper/fusion/chain_search.hpp"

namespace mapsim {

// A step of a curve: with this capacity or more, up to that of the step before, the least energy.
struct ChainStep {
  Bits capacity{0};
  ChainResult result;  // its tree takes that capacity
};

// The least energy of a chain's mapping trees as a function of one capacity, all else equal (its
// energies too). With less than the last step's, nothing fits.
struct ChainCurve {
  std::vector<ChainStep> steps;  // capacity descending, energy ascending
  std::int64_t searches = 0;
  double seconds = 0;
  bool complete = true;  // else it was stopped: with less than the last step's nothing is known
};

// One proven search per step: the optimum that takes U bits is that of every capacity from U on, so
// the next search is for a bit less. `progress`: called before each search. The budget is of all
// searches together. A search that is stopped, or runs out of it, ends the curve.
ChainCurve search_chain_curve(const Arch& arch, const EinsumChain& chain,
                              const FusionLimits& limits, const SearchOptions& options,
                              const CurveCapacity& of,
                              const std::function<void(Bits capacity)>& progress);

}  // namespace mapsim
