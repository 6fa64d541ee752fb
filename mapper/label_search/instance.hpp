// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/bounds/array_bound.hpp"
#include "mapper/bounds/completion_bound.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/bounds/moves.hpp"
#include "mapper/graph/array_time.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/valuation.hpp"
#include "mapper/graph/volume.hpp"
#include "mapper/label_search/beam_search.hpp"

namespace mapsim::exact {

// With a limit and few rows, to leave rows out once they are filled is cheaper than to know
// beforehand which of them, and which edges, are of interest.
bool has_many_rows(const StateGraph& graph);

// Does the completion bound of the energy alone rule out every nest? Where time counts, too, that
// takes a fraction of what an instance takes. Arguments as an instance has them.
bool is_ruled_out_by_energy(const StateGraph& graph, const Unrolled& unrolled,
                            const Objective& objective, const Incumbent& known,
                            std::vector<bool> left_out, double least_second,
                            const Deadline* deadline = nullptr);

// Everything that the search of one class of unrollings needs.
struct Instance {
  // What is known leaves out keys, and says what is looked for. `may_beam_search`: if nothing is
  // known, a beam search looks for something first. `least_second`: of the second figure of a
  // front. `left_out`: per edge, nests with it are not looked at; none: all are. Within `deadline`,
  // if there is one: else OutOfBudget.
  Instance(const StateGraph& graph, Unrolled unrolled, const Objective& objective,
           const Incumbent& known = {}, bool may_beam_search = false,
           std::vector<bool> left_out = {}, double least_second = 0,
           const Deadline* deadline = nullptr);
  // The best key that the bound allows from the start, if it is not beyond the limit; infinite:
  // nothing fits, or nothing within the limit.
  Key root() const;
  // The least time of the compute units from a node on, if what has entered a systolic array so far
  // can be done after `entered` cycles (infinite: nothing has; always so without such an array).
  double compute_cycles(const Node& node, double entered) const;

  const StateGraph& graph;
  Unrolled unrolled;
  EdgeCosts costs;
  std::optional<ArrayTime> array;  // where time counts
  Valuation valuation;
  BeamNest beam;  // a nest that fits, if it has been looked for
  CompletionBound bound;
  std::optional<ArrayBound> array_bound;
};

}  // namespace mapsim::exact
