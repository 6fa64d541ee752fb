// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// Rows of the completion bound with perfect factors. The cost of an edge depends only on its ends,
// so its table is exact. A row with few tiles of interest is filled tile by tile
// (listed_tiles.cpp), any other by vector instructions.
class LatticeRows : public BoundRows {
 public:
  // If there are several components, all cost tables must be made (EdgeCosts::prepare) before
  // threads fill rows at once.
  LatticeRows(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs)
      : graph_{graph},
        unrolled_{unrolled},
        costs_{costs},
        held_{costs.deadline()},
        digits_(unrolled.lattices.size()) {}
  std::size_t components() const override { return costs_.components(); }
  std::size_t tiles(std::size_t stage) const override { return lattice(stage).size(); }
  bool fill(const BoundRow& row, const CompletionBound& behind) override;
  // To be called before rows with listed tiles are filled.
  void list_digits();

 private:
  struct Digits {  // of the tiles of a lattice; rests as in DivisorLattice::rest
    PerDim<std::vector<std::uint16_t>> digits;
    PerDim<std::vector<std::uint32_t>> rests;
  };
  const DivisorLattice& lattice(std::size_t stage) const {
    return unrolled_.lattices[graph_.crossed(stage)];
  }
  std::vector<const double*> loop_costs(const StateGraph::SlidingEdge& sliding_edge,
                                        std::size_t component);
  bool fill_all(const BoundRow& row, const CompletionBound& behind);
  bool copy_behind(const BoundRow& row, const CompletionBound& behind) const;
  bool relax_loops(const BoundRow& row, const CompletionBound& behind, DimSet& neutral) const;
  bool relax_sliding_edge(const BoundRow& row, const CompletionBound& behind,
                          const StateGraph::SlidingEdge& sliding_edge);
  std::vector<const double*> rows_behind(const BoundRow& row, const CompletionBound& behind,
                                         DimId dim, std::size_t residency,
                                         const std::vector<DivisorLattice::Loop>& loops) const;
  bool fill_listed(const BoundRow& row, const CompletionBound& behind);
  bool relax_sliding_edge_of_listed(const BoundRow& row, const CompletionBound& behind,
                                    const Digits& digits,
                                    const StateGraph::SlidingEdge& sliding_edge);
  bool relax_loops_of_listed(const BoundRow& row, const CompletionBound& behind,
                             const Digits& digits) const;

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  EdgeCosts& costs_;
  HeldMemory held_;                            // of the digits
  std::vector<std::optional<Digits>> digits_;  // per lattice; nullopt: not listed
};

// The completion bound with perfect factors. Throws OutOfBudget at the deadline of `costs`, if it
// has one.
CompletionBound complete_on_lattice(const StateGraph& graph, const Unrolled& unrolled,
                                    EdgeCosts& costs, const CompletionBound::Scope& scope);

}  // namespace mapsim::exact
