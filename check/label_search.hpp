// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "check/completion_bound.hpp"
#include "check/unrolling_bound.hpp"

namespace mapsim::check {

struct SearchResult {
  double bound = 0;  // a lower bound of Target::of() over all mappings
  // Perfect factors: figures of a mapping that the target does not cover
  std::optional<Figures> better;
  std::int64_t labels = 0;  // expanded
};

// The history in labels at a node: the loops further out, besides the cost so far and the use of
// shared capacities. kNone: no loops; costs of edges come from tables. kLoopChains: all loops of
// each dim; costs of edges follow from the traffic below these loops.
enum class History : std::uint8_t { kNone, kLoopChains };

// Label setting over the nests of an unrolling. It enforces that tiles share capacities, which the
// completion bound drops. Labels are pruned if cost so far and completion bound together meet the
// target, or if another label with the same node and history is no worse.
//
// Perfect factors need no history, and their edge costs are exact. Labels walk from the compute
// units outwards: if ports limit the latency, far fewer labels remain than inwards, because inner
// tiles have few alternatives. Nodes are visited in the order of the paths, so all labels of a node
// exist when it is expanded.
//
// With imperfect factors costs depend on the loops further out, so labels walk inwards, the label
// with the least bound first. The search ends when a label is whole, when none is left, or when the
// effort is spent. With loop chains a whole label has the cost that it moves. Two loops over one
// dim need something between them. Of that, may_loop() checks only that they do not follow each
// other directly; any keep between them counts, whether or not they move its tensor. This only
// lowers the bound. No two extents may share a bin of the lattice.
SearchResult search_labels(const Graph& graph, EdgeCosts& costs, const CompletionBound& bound,
                           ArrayTimes* array, const PathObjective& objective, double steps,
                           const Goal& goal, const Target& target, History history,
                           const Effort& effort);

}  // namespace mapsim::check
