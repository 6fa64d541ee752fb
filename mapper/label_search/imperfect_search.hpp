// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mapper/bounds/coarse_to_fine.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/valuation.hpp"
#include "mapper/label_search/label_search.hpp"
#include "mapper/mapper.hpp"

namespace mapsim::imperfect {

// Tiles of the lattices on which classes are bounded before any is searched.
inline constexpr std::array<std::size_t, 2> kCoarseTiles{300, 30'000};

// So many states bounded count as one label of a budget: no less work than most labels are.
inline constexpr std::int64_t kStatesPerLabel = 1'000;

// What the label search orders whole mappings by.
exact::Key key_of_cost(const Objective& objective, const Cost& cost);

// What became of one spatial unrolling.
struct Outcome {
  // Of a query for a front: what nothing covers, in no order.
  struct Point {
    exact::Key key;
    Mapping mapping;
  };
  std::vector<Point> points;
  std::optional<Mapping> best;  // as good as the limit, or better
  exact::Key key;               // of the best
  exact::Key root;              // what the relaxation says
  exact::Key bound;             // nothing of this unrolling is better
  std::int64_t states = 0;      // bounded
  std::int64_t labels = 0;      // expanded
  std::int64_t spent = 0;       // of the query's budget; all of it, if that is too small to begin
  bool searched = false;        // labels were needed
  bool complete = true;         // false: stopped
  bool is_out_of_memory = false;
  // What bounds the mappings with an extent at which nothing stands, where not all were looked at.
  std::optional<exact::Key> bare;
};

// The best mapping of one unrolling of an imperfect space, or all of a front, as far as what the
// query knows does not cover them. Its tick is not asked. `lattices`: tiles of those on the way to
// the fine one (surviving_tiles).
Outcome search_class(const exact::StateGraph& graph, const UnrollingClass& unrolling_class,
                     const Objective& objective, const exact::LabelQuery& query,
                     const Deadline& deadline, std::span<const std::size_t> lattices = kOnTheWay);

// No mapping of the unrolling is better: the least of labels that know where tensors are kept and
// not by which loops, or only how many tiles these made (`counted`; decision 33). At most half of
// `labels`; infinite: there is none.
exact::Key chainless_bound(const exact::StateGraph& graph, const UnrollingClass& unrolling_class,
                           const Objective& objective, bool counted, std::int64_t labels,
                           const Deadline& deadline);

// No mapping of the unrolling is better, in either figure: what the relaxation says on a lattice of
// about `most` tiles; nothing if there is no time. If it is beyond what is known, it says no more
// than that.
exact::Key coarse_bound(const exact::StateGraph& graph, const UnrollingClass& unrolling_class,
                        const Objective& objective, std::size_t most, const Deadline& deadline,
                        const exact::Incumbent& known = {});

// Labels of a budget that a bound on a lattice of so many tiles counts for.
std::int64_t labels_of_bound(const exact::StateGraph& graph, std::size_t tiles);

}  // namespace mapsim::imperfect
