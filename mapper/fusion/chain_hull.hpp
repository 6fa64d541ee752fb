// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/fusion/chain_search.hpp"

// Energy^a * latency^b is not a sum over einsums, but it is quasi-concave: on a segment between two
// points it is nowhere less than at the better end. So the best of all points (energy, latency) of
// a space is a vertex of their convex hull. A vertex has the least energy + w * latency for some w,
// which is a sum over einsums.

namespace mapsim::fusion {

// The best tree by an additive objective, if it is better than `cutoff`. If it is proven that none
// is, the result's lower bound is the cutoff.
ChainResult search_additive(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                            const SearchOptions& options, double cutoff);

// The front of energy and latency of all trees whose energy + w * latency is below the cutoff.
// nullopt: the search was stopped.
std::optional<std::vector<MappingTree>> search_all(const Arch& arch, const EinsumChain& chain,
                                                   const FusionLimits& limits,
                                                   const SearchOptions& options, double cutoff);

// The best tree by a product. Each search, for one weight after another, excludes a half-plane of
// points. It ends when no point outside of these is better than the best one found.
ChainResult search_hull(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                        const SearchOptions& options);

// The least value of the function on or above all lines. At least two lines must differ in weight;
// otherwise 0.
double least_value(const ObjectiveFunction& function, const std::vector<HullLine>& lines);

}  // namespace mapsim::fusion
