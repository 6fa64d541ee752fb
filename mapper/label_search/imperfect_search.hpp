// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/deadline.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/label_search/label_search.hpp"
#include "mapper/mapper.hpp"

namespace mapsim::imperfect {

// Tiles of the coarse lattices on which all classes are bounded before any is searched.
inline constexpr std::array<std::size_t, 2> kTilesToBoundClasses{300, 30'000};

// So many states of a completion bound count as one label of a budget. Bounding them takes at least
// as long as expanding most labels.
inline constexpr std::int64_t kStatesPerLabel = 1'000;

// The key of a whole mapping, by which the label search compares mappings.
exact::ObjectiveKey key_of_cost(const Objective& objective, const Cost& cost);

// The result of searching one spatial unrolling.
struct HistoryResult {
  // For a front: the points that no other one dominates, in no particular order.
  struct Point {
    exact::ObjectiveKey key;
    Mapping mapping;
  };
  std::vector<Point> points;
  std::optional<Mapping> best;  // no worse than the limit; nullopt: none was found
  exact::ObjectiveKey key;      // of `best`
  exact::ObjectiveKey root;     // the completion bound at the start
  exact::ObjectiveKey bound;    // a lower bound of all mappings of the unrolling
  std::int64_t states = 0;      // nodes of the completion bound
  std::int64_t labels = 0;      // expanded
  std::int64_t spent = 0;       // of the query's budget; all of it, if it was too small to begin
  bool searched = false;        // some label had to be expanded
  bool complete = true;         // false: stopped early
  bool is_out_of_memory = false;
  // A lower bound of the mappings with a free tile boundary, if they were not searched to the end.
  std::optional<exact::ObjectiveKey> free_boundaries_bound;
};

// The best mapping of one unrolling of a space with imperfect factors, or its part of a front,
// unless the query's incumbent rules it out. The query's tick is not called.
HistoryResult search_class(const exact::StateGraph& graph, const UnrollingClass& unrolling_class,
                           const Objective& objective, const exact::LabelQuery& query,
                           const Deadline& deadline);

// A lower bound of all mappings of the unrolling, in both figures: the completion bound on a
// lattice of about `most` tiles. {0, 0} if the deadline has passed. It is cut off just above the
// limit of `known`.
exact::ObjectiveKey coarse_bound(const exact::StateGraph& graph,
                                 const UnrollingClass& unrolling_class, const Objective& objective,
                                 std::size_t most, const Deadline& deadline,
                                 const exact::Incumbent& known = {});

// The labels of a budget that the completion bound of a lattice of this size counts as.
std::int64_t labels_of_bound(const exact::StateGraph& graph, std::size_t tiles);

}  // namespace mapsim::imperfect
