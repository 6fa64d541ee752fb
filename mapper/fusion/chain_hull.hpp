// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/fusion/chain_search.hpp"

// Energy^a * latency^b is no sum over einsums, but it is quasi-concave: between two
// points it is nowhere less than at the better one. So among all points (energy, latency)
// of a space the best one is a vertex of their convex hull, and a vertex is the least of
// energy + w * latency for some w, which is a sum over einsums.

namespace mapsim::fusion {

// The best tree by an additive objective, if it is better than `cutoff`; if nothing is, and that is
// proven, the result's lower bound is the cutoff.
ChainResult search_additive(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                            const SearchOptions& options, double cutoff);

// All trees below the cutoff, by energy + w * latency, that no other beats in energy and latency.
// nullopt: it was stopped.
std::optional<std::vector<MappingTree>> search_all(const Arch& arch, const EinsumChain& chain,
                                                   const FusionLimits& limits,
                                                   const SearchOptions& options, double cutoff);

// The best tree by a product: searches for one weight after another, each of which cuts off a part
// of the plane, until what is left of it is no better than the best point that was met.
ChainResult search_hull(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                        const SearchOptions& options);

// The least value on or above all lines, of which at least two differ in weight, or nothing is said
// (0).
double least_value(const ObjectiveFunction& function, const std::vector<HullLine>& lines);

}  // namespace mapsim::fusion
