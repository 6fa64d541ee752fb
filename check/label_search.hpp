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

// What labels at a node remember of the loops further out, besides the cost so far and the use of
// shared capacities. kNone: nothing; edges cost what their tables say. kLoopChains: all loops of
// each dim; edges cost what they move below these loops.
enum class History : std::uint8_t { kNone, kLoopChains };

// Walks the nests of an unrolling, all tiles of a capacity in it together, leaving out what meets
// the target with what the completion bound says that the rest costs, and what another label of the
// same node and history is no worse than.
//
// Perfect factors have no history, and their tables are exact. Labels walk from the compute units
// outwards: far fewer of them are left there than inwards where ports set the pace, since the inner
// tiles have few alternatives. Nodes are looked into in the order in which walks pass them, so that
// all labels of a node exist when it is expanded.
//
// Imperfect ones cost what the loops further out make of them, so that labels walk inwards: the one
// that may come to the least first, until one is whole, or nothing is left, or as many have been
// looked into as the effort allows. With loop chains a whole one costs what it moves; whether there
// are loops to put between those of one dim is not asked, which leaves a bound. No two extents may
// share a bin of the lattice.
SearchResult search_labels(const Graph& graph, EdgeCosts& costs, const CompletionBound& bound,
                           ArrayTimes* array, const Price& price, double steps, const Goal& goal,
                           const Target& target, History history, const Effort& effort);

}  // namespace mapsim::check
