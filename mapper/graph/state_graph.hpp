// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "mapper/graph/parts.hpp"
#include "mapper/graph/tensor_moves.hpp"
#include "mapper/mapspace/loop_order_automaton.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// What the search graph looks like before any extent is known: residences, residency (one stop per
// tensor: where it was placed last; which borders of regions have been kept that need not be;
// imperfect: which tiles that end loops over their dims have been kept; the state of the region;
// packed in one number, the last highest), stages and moves. docs/mapper.md.
class StateGraph {
 public:
  // `used`: the fanouts with a factor > 1, outermost first. `may_stay`: what may stay in a systolic
  // array, if there is one; a nest ends with one of these tensors in it.
  StateGraph(const Mapspace& space, const std::vector<FanoutId>& used,
             std::optional<TensorSet> may_stay = {});

  struct Place {
    std::size_t edge = 0;    // index
    std::size_t target = 0;  // residency after it
  };
  // One loop over `dim` and, right below, tiles that slide along it.
  struct SlidingEdge {
    DimId dim{};
    std::vector<std::size_t> edges;
    std::size_t target = 0;  // before after_loop()
  };

  const Mapspace& space() const { return *space_; }
  const Problem& problem() const { return space_->problem(); }
  // Where a nest finds the tensor.
  LevelId source(TensorId t) const { return space_->entry().source(t); }
  const std::vector<FanoutId>& used() const { return used_; }
  std::size_t stages() const { return stage_ends_.size() + 1; }
  // Used fanouts that are crossed before a stage begins.
  std::size_t crossed(std::size_t stage) const;
  const StageEnd& end_of(std::size_t stage) const { return stage_ends_[stage]; }
  std::size_t residencies() const { return residencies_; }
  const std::vector<std::size_t>& starts() const { return starts_; }
  const std::vector<Residence>& residences(TensorId t) const { return residences_[t]; }
  std::size_t residence_index(std::size_t residency, TensorId t) const {
    return residency / radix_[t] % residences_[t].size();
  }
  const Residence& residence(std::size_t residency, TensorId t) const {
    return residences_[t][residence_index(residency, t)];
  }
  // Does a tensor of those that may stay in a systolic array stand in it?
  bool is_in_array(TensorId t, const Residence& residence) const;
  const std::vector<BoundaryEdge>& edges() const { return edges_; }
  const std::vector<Place>& places(std::size_t stage, std::size_t residency) const {
    return places_[stage * residencies_ + residency];
  }
  const std::vector<SlidingEdge>& sliding_edges(std::size_t stage, std::size_t residency) const {
    return sliding_edges_[stage * residencies_ + residency];
  }
  // The accesses of the compute units, one edge per tensor without a latch; nullopt: not an end.
  const std::optional<std::vector<std::size_t>>& end(std::size_t residency) const {
    return ends_[residency];
  }
  // Residency after a loop; nullopt: a rule forbids it.
  std::optional<std::size_t> after_loop(std::size_t stage, std::size_t residency, DimId dim,
                                        std::int64_t factor) const;
  // Do loops over the dim leave the residency as they are, whatever their factors?
  bool is_neutral(std::size_t stage, std::size_t residency, DimId dim) const;
  // Residency behind the stage_end that ends the stage; nullopt: a rule forbids to end it.
  std::optional<std::size_t> after_stage(std::size_t stage, std::size_t residency) const;
  // Can a nest get here? The rest of the graph is not worth bounding.
  bool reachable(std::size_t stage, std::size_t residency) const {
    return reachable_[stage * residencies_ + residency];
  }
  // The same of nests without some edges: by stage and residency.
  std::vector<char> reachable_without(const std::vector<bool>& left_out) const;
  // The region of a stage, and whether the stage_end that ends the stage ends the region.
  const Region& region(std::size_t stage) const { return regions_[region_[stage]]; }
  bool ends_region(std::size_t stage) const { return region_[stage] != region_[stage + 1]; }
  std::size_t region_index(std::size_t stage) const { return region_[stage]; }
  std::size_t regions() const { return regions_.size(); }
  // Dims that no loop may cut: those of tensors that were placed ahead of their stage or that are
  // done with.
  DimSet locked(std::size_t stage, std::size_t residency) const;
  // Energy [pJ] that every nest has cost when it gets to this residency: each element of a tensor
  // crosses every boundary on its way at least once.
  double least_so_far(std::size_t residency) const;
  const TensorMoves& moves(TensorId t) const { return tensor_moves_[t]; }

  const std::vector<CapacityConstraint>& capacities() const { return capacities_; }
  std::optional<std::size_t> capacity_of(const BoundaryEdge& edge) const;
  const std::vector<Port>& ports() const { return ports_; }

 private:
  void make_stage_ends();
  void make_residences(TensorId t);
  void make_capacities();
  void make_ends_of_loops();
  void make_moves();
  void make_least_so_far();
  void make_end(std::size_t residency);
  void make_moves(std::size_t stage, std::size_t residency);
  std::size_t state(std::size_t residency) const { return residency / stride_of_state_; }
  bool may_pass(TensorId t, const Residence& from, const Residence* to) const;
  bool may_place(std::size_t stage, const Residence& to) const;
  std::size_t find_edge(const BoundaryEdge& edge);
  const std::vector<NextResidence>& next_residences(std::size_t stage, TensorId t,
                                                    std::size_t from);
  template <class Visit>
  void for_each_step(std::size_t stage, std::size_t residency, TensorId t, const Visit& visit);
  void extend_sliding_edge(std::size_t stage, DimId dim, TensorId t, SlidingEdge& so_far,
                           std::vector<SlidingEdge>& found);

  const Mapspace* space_;
  std::vector<FanoutId> used_;
  std::optional<TensorSet> may_stay_;
  Regions regions_;
  std::vector<StageEnd> stage_ends_;
  std::vector<std::size_t> region_;    // by stage
  std::vector<LevelId> borders_;       // levels that must keep something, though no tensor must
  std::size_t stride_of_borders_ = 1;  // in residency
  std::vector<LoopsEnd> loops_end_;
  std::size_t stride_of_ends_ = 1;
  std::size_t stride_of_state_ = 1;
  PerTensor<std::vector<Residence>> residences_;
  PerTensor<std::size_t> radix_;
  PerDim<TensorSet> sliding_;                  // which tiles slide along a dim
  PerDim<std::vector<std::int64_t>> factors_;  // that a loop over a dim may have
  std::size_t residencies_ = 1;
  std::vector<std::size_t> starts_;
  std::map<BoundaryEdge, std::size_t> edge_index_;
  std::vector<BoundaryEdge> edges_;
  PerTensor<std::vector<std::optional<std::vector<NextResidence>>>>
      next_residences_;  // [stage * residences + stop]
  std::vector<std::vector<Place>> places_;
  std::vector<std::vector<SlidingEdge>> sliding_edges_;
  std::vector<bool> reachable_;
  std::vector<std::optional<std::vector<std::size_t>>> ends_;
  std::vector<CapacityConstraint> capacities_;
  std::vector<Port> ports_;
  PerTensor<std::vector<double>> least_so_far_;  // per stop
  PerTensor<TensorMoves> tensor_moves_;
};

}  // namespace mapsim::exact
