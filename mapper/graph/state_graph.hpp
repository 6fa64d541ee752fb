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

// The state graph without tiles: the part without extents and factors (docs/mapper.md). A
// *residency* is a number that says at which residence each tensor was last kept, and what rules
// need to know of the nest so far; state_graph.cpp lists its digits. A *stage* is the part of a
// nest between two stage ends (StageEnd). *Moves* lead from residency to residency in one stage.
class StateGraph {
 public:
  // `used`: the fanouts with a factor > 1, outermost first. `may_stay`: the tensors that may stay
  // in a systolic array, where a nest then ends with one. `ramped`: latency may be the ramped one.
  StateGraph(const Mapspace& space, const std::vector<FanoutId>& used,
             std::optional<TensorSet> may_stay = {}, bool ramped = true);

  // A boundary edge: one tensor is kept further in.
  struct KeepMove {
    std::size_t edge = 0;    // index in edges()
    std::size_t target = 0;  // the residency that it leads to
  };
  // A sliding-window edge: a loop over `dim`, right above keeps of tensors that slide along it.
  struct SlidingEdge {
    DimId dim{};
    std::vector<std::size_t> edges;
    std::size_t target = 0;  // residency after the keeps; after_loop() is still to be applied
  };

  const Mapspace& space() const { return *space_; }
  const Problem& problem() const { return space_->problem(); }
  const std::vector<FanoutId>& used() const { return used_; }
  std::size_t stages() const { return stage_ends_.size() + 1; }
  // How many used fanouts are crossed before a stage begins.
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
  // Is the residence inside a systolic array, in which the tensor may stay?
  bool is_in_array(TensorId t, const Residence& residence) const;
  const std::vector<BoundaryEdge>& edges() const { return edges_; }
  const std::vector<KeepMove>& keep_moves(std::size_t stage, std::size_t residency) const {
    return keep_moves_[stage * residencies_ + residency];
  }
  const std::vector<SlidingEdge>& sliding_edges(std::size_t stage, std::size_t residency) const {
    return sliding_edges_[stage * residencies_ + residency];
  }
  // The edges of the compute units' accesses, if a nest may end here. nullopt: it may not.
  const std::optional<std::vector<std::size_t>>& end(std::size_t residency) const {
    return ends_[residency];
  }
  // The residency after a loop of this factor. nullopt: a rule forbids the loop.
  std::optional<std::size_t> after_loop(std::size_t stage, std::size_t residency, DimId dim,
                                        std::int64_t factor) const;
  // Do loops over the dim leave the residency unchanged, whatever their factors?
  bool is_neutral(std::size_t stage, std::size_t residency, DimId dim) const;
  // The residency at the start of the next stage. nullopt: a rule forbids to end the stage here.
  std::optional<std::size_t> after_stage(std::size_t stage, std::size_t residency) const;
  // Can a nest get to this row? Others need no bound.
  bool reachable(std::size_t stage, std::size_t residency) const {
    return reachable_[stage * residencies_ + residency];
  }
  // The same for nests without some edges: [stage * residencies() + residency].
  std::vector<char> reachable_without(const std::vector<bool>& left_out) const;
  // The region of a stage; and whether the end of the stage also ends the region.
  const Region& region(std::size_t stage) const { return regions_[region_[stage]]; }
  bool ends_region(std::size_t stage) const { return region_[stage] != region_[stage + 1]; }
  std::size_t region_index(std::size_t stage) const { return region_[stage]; }
  std::size_t regions() const { return regions_.size(); }
  // Dims that no loop may cut, because of a keep deferred to a later stage or a rule (LoopsEnd).
  DimSet locked(std::size_t stage, std::size_t residency) const;
  // A lower bound of the energy [pJ] on the way here: elements cross each boundary at least once.
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
  // The rows to which the edges of a row lead, without those left out (empty: none are).
  std::vector<std::size_t> targets(std::size_t row, const std::vector<bool>& left_out) const;
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
  bool ramped_ = true;
  Regions regions_;
  std::vector<StageEnd> stage_ends_;
  std::vector<std::size_t> region_;  // by stage
  std::vector<LevelId> borders_;     // end a region, must keep a tensor, but no particular one
  std::vector<LoopsEnd> loops_end_;
  std::size_t stride_of_borders_ = 1, stride_of_ends_ = 1, stride_of_state_ = 1;  // of digits
  PerTensor<std::vector<Residence>> residences_;
  PerTensor<std::size_t> radix_;
  PerDim<TensorSet> sliding_;                  // the tensors that slide along a dim
  PerDim<std::vector<std::int64_t>> factors_;  // that a loop over a dim may have
  std::size_t residencies_ = 1;
  std::vector<std::size_t> starts_;
  std::map<BoundaryEdge, std::size_t> edge_index_;
  std::vector<BoundaryEdge> edges_;
  using NextResidences = std::vector<std::optional<std::vector<NextResidence>>>;
  PerTensor<NextResidences> next_residences_;  // [stage * residences + residence]
  std::vector<std::vector<KeepMove>> keep_moves_;
  std::vector<std::vector<SlidingEdge>> sliding_edges_;
  std::vector<bool> reachable_;
  std::vector<std::optional<std::vector<std::size_t>>> ends_;
  std::vector<CapacityConstraint> capacities_;
  std::vector<Port> ports_;
  PerTensor<std::vector<double>> least_so_far_;  // per residence
  PerTensor<TensorMoves> tensor_moves_;
};

}  // namespace mapsim::exact
