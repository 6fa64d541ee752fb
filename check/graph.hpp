// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/goal.hpp"
#include "check/regions.hpp"
#include "check/residence.hpp"
#include "check/rules.hpp"
#include "costmodel/fusion/branch.hpp"

namespace mapsim::check {

// The state graph: nests as paths inwards (docs/certificates.md). A residency says where tensors
// were last kept, which levels that end a region keep one, and what the region has read of its
// loops. A stage ends where a used fanout is crossed or, in an even space, where a level closes.
class Graph {
 public:
  // `may_stay`: the tensors that may stay in a systolic array, if there is one.
  Graph(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used,
        std::optional<TensorSet> may_stay = {}, BranchEntry entry = {});

  struct Move {
    std::size_t from = 0;  // residency
    std::size_t edge = 0;
  };
  // A loop over `dim`, for the factors for which passes() is true.
  struct Loop {
    DimId dim{};
    std::size_t from = 0;  // residency
    std::size_t to = 0;    // residency right below the loop
  };
  // A sliding-window edge: such a loop, and right below it edges of tensors that slide along it.
  struct SlidingEdge {
    Loop loop;
    std::vector<std::size_t> edges;
  };
  const Problem& problem() const { return *problem_; }
  const Rules& rules() const { return *rules_; }
  const BranchEntry& entry() const { return entry_; }
  const std::vector<FanoutId>& used() const { return used_; }
  std::size_t stages() const { return stage_ends_.size() + 1; }
  // The used fanout that is crossed at the end of a stage; nullopt: a level closes.
  const std::optional<std::size_t>& fanout_after(std::size_t stage) const {
    return stage_ends_[stage].fanout;
  }
  std::size_t crossed(std::size_t stage) const;
  std::size_t residencies() const { return residencies_; }
  const std::vector<Residence>& residences(TensorId t) const { return residences_[t]; }
  std::size_t residence_at(std::size_t residency, TensorId t) const {
    return residency / radix_[t] % residences_[t].size();
  }
  // Boundary and sliding-window edges lead to larger residencies, loops to no smaller ones.
  const std::vector<Move>& moves_to(std::size_t stage, std::size_t residency) const {
    return moves_[stage * residencies_ + residency];
  }
  const std::vector<SlidingEdge>& sliding_edges_to(std::size_t stage, std::size_t residency) const {
    return sliding_edges_[stage * residencies_ + residency];
  }
  const std::vector<Loop>& loops_to(std::size_t stage, std::size_t residency) const {
    return loops_[stage * residencies_ + residency];
  }
  // Does a loop of this factor lead from loop.from to loop.to?
  bool passes(std::size_t stage, const Loop& loop, std::int64_t factor) const {
    return is_free_ || region(stage).after(reading_at(loop.from), loop.dim, factor) ==
                           std::optional{reading_at(loop.to)};
  }
  // Imperfect factors: may the region of the stage cut one tile of the dim into `tiles`?
  bool allows_tiles(std::size_t stage, DimId d, std::int64_t tiles) const {
    return is_free_ || region(stage).allows(d, tiles);
  }
  bool ends_region(std::size_t stage) const {
    return stage + 1 == stages() || region_of_[stage] != region_of_[stage + 1];
  }
  bool counts_tiles() const;  // imperfect factors: do regions restrict the number of tiles?
  // Residencies of the previous stage from which this one is entered.
  const std::vector<std::size_t>& crossings_to(std::size_t stage, std::size_t residency) const {
    return crossings_[stage * residencies_ + residency];
  }
  const std::vector<std::size_t>& starts() const { return starts_; }
  // The edges into the compute units, if a nest may end at the residency; nullopt: it may not.
  const std::optional<std::vector<std::size_t>>& end(std::size_t residency) const {
    return ends_[residency];
  }
  // Does a path from a start to an end lead through the residency in this stage?
  bool alive(std::size_t stage, std::size_t residency) const {
    return alive_[stage * residencies_ + residency];
  }
  DimSet locked(std::size_t stage, std::size_t residency) const;   // dims that no loop may cut
  bool is_in_array(TensorId t, const Residence& residence) const;  // and it may stay there
  const std::vector<BoundaryEdge>& edges() const { return edges_; }
  bool slides(const BoundaryEdge& edge) const;  // does its tile slide along the loop above it?
  const std::vector<CapacityConstraint>& capacities() const { return capacities_; }
  std::optional<std::size_t> capacity_of(const BoundaryEdge& edge) const;  // of its tile
  const std::vector<Port>& ports() const { return ports_; }

 private:
  void list_residences();
  void list_capacities();
  void list_moves();
  void list_moves_to(std::size_t residency);
  void list_loops(std::size_t stage, std::size_t residency);
  void list_slides(std::size_t stage, std::size_t target, std::size_t tensors,
                   const SlidingEdge& so_far);
  void list_crossings(std::size_t stage, std::size_t residency);
  bool is_possible(std::size_t stage, const Loop& loop) const;
  void mark_alive();
  const Region& region(std::size_t stage) const { return regions_[region_of_[stage]]; }
  std::size_t reading_at(std::size_t residency) const {
    return residency / (places_ << flags_.size());
  }
  std::size_t with_reading(std::size_t residency, std::size_t reading) const {
    return residency % (places_ << flags_.size()) + reading * (places_ << flags_.size());
  }
  std::size_t flag_of(LevelId level) const;   // what the level's flag adds to a residency; 0: none
  bool can_run(std::size_t residency) const;  // a tensor that may stay in a systolic array is in it
  bool may_step(TensorId t, const Residence& outer, const Residence* inner) const;
  std::size_t number_of(const BoundaryEdge& edge);
  const Problem* problem_;
  const Rules* rules_;
  std::vector<FanoutId> used_;
  std::optional<TensorSet> may_stay_;
  BranchEntry entry_;
  struct StageEnd {
    std::optional<std::size_t> fanout;  // a used one
    LevelId level{};                    // otherwise: the level that closes
  };
  std::vector<StageEnd> stage_ends_;
  Regions regions_;
  std::vector<std::size_t> region_of_;  // per stage
  bool is_free_;                        // there are no rules for loops
  std::vector<LevelId> flags_;          // levels that end a region, and must keep some tensor
  PerTensor<std::vector<Residence>> residences_;
  PerTensor<std::size_t> radix_;
  std::size_t places_ = 1;  // number of combinations of the tensors' residences
  std::size_t residencies_ = 1;
  std::vector<std::vector<Move>> moves_;
  std::vector<std::vector<Loop>> loops_;
  std::vector<std::vector<SlidingEdge>> sliding_edges_;
  std::vector<std::vector<std::size_t>> crossings_;
  std::vector<std::size_t> starts_;
  std::vector<std::optional<std::vector<std::size_t>>> ends_;
  std::vector<bool> alive_;
  std::vector<BoundaryEdge> edges_;
  std::vector<CapacityConstraint> capacities_;
  std::vector<Port> ports_;
};

}  // namespace mapsim::check
