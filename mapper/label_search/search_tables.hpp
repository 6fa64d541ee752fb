// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/bounds/array_bound.hpp"
#include "mapper/bounds/completion_bound.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/graph/array_time.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"
#include "mapper/label_search/beam_search.hpp"
#include "mapper/label_search/steps.hpp"

namespace mapsim::exact {

// Are there enough rows that selecting tiles by the per-tensor bound pays? In a small graph with an
// incumbent it is cheaper to fill all rows, and to drop those without interest.
bool has_many_rows(const StateGraph& graph);

// Does the completion bound of energy alone rule out every nest? If latency matters, too, this
// takes a fraction of the time that SearchTables take. The arguments are those of SearchTables.
bool is_ruled_out_by_energy(const StateGraph& graph, const Unrolled& unrolled,
                            const Objective& objective, const Incumbent& known,
                            std::vector<bool> left_out, double least_second,
                            const Deadline* deadline = nullptr);

// Everything that the label search of one class of unrollings with perfect factors needs.
struct SearchTables {
  // `known`: the incumbent, by which nodes are pruned. `may_beam_search`: without an incumbent, a
  // beam search may look for one first. `left_out`: per edge, nests with it are left out; empty:
  // none is. `least_second`: a lower bound of the second figure of a front. Throws OutOfBudget at
  // the deadline, if one is given.
  SearchTables(const StateGraph& graph, Unrolled unrolled, const Objective& objective,
               const Incumbent& known = {}, bool may_beam_search = false,
               std::vector<bool> left_out = {}, double least_second = 0,
               const Deadline* deadline = nullptr);
  // The least key that the completion bound allows at the start. Infinite: no mapping fits, or none
  // is within the incumbent's limit.
  ObjectiveKey root() const;
  // A lower bound of the cycles of the compute units on all paths through a node. `entered`: the
  // cycles of the systolic array by the tensors that have entered it; infinite: none has, or there
  // is no array.
  double compute_cycles(const Node& node, double entered) const;

  const StateGraph& graph;
  Unrolled unrolled;
  EdgeCosts costs;
  std::optional<ArrayTime> array;  // only if there is an array and latency matters
  PathObjective path_objective;
  BeamNest beam;  // empty steps: no beam search was made, or it failed
  CompletionBound bound;
  std::optional<ArrayBound> array_bound;
};

}  // namespace mapsim::exact
