// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "costmodel/count_perfect.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/evaluate_into.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/network.hpp"
#include "costmodel/widths.hpp"
#include "costmodel/window.hpp"

namespace mapsim {

namespace {

// A tensor's child node (or the compute units) and its parent node.
struct Boundary {
  TensorId tensor{};
  std::optional<LevelId> child;  // nullopt: the compute units
  LevelId parent{};
  std::size_t child_position = 0;  // loops above the child
  std::size_t parent_position = 0;
};

// Counts one boundary from every side that is asked for; holds the scratch for loop uses.
class BoundaryCounter {
 public:
  BoundaryCounter(const Problem& problem, const Nest& nest, const Boundary& boundary)
      : problem_{problem},
        nest_{nest},
        workload_{problem.workload()},
        tensor_{workload_.tensors[boundary.tensor]},
        boundary_{boundary},
        loops_{std::span(nest.loops).first(boundary.child_position)},
        uses_(loops_.size()) {
    const DimSet relevant = tensor_.dims();
    const bool holds =
        boundary.child || problem.arch().compute.register_reuse.contains(tensor_.role);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const NestLoop& loop = loops_[i];
      if (!loop.fanout && relevant.contains(loop.dim)) {
        moving_ = i;
      }
      if (loop.fanout && i >= boundary.parent_position &&
          problem.is_merged(*loop.fanout, boundary.tensor)) {
        merged_.insert(*loop.fanout);
        together_ = together_ && problem.arch().fanouts[*loop.fanout].forwarding;
      }
    }
    if (!holds) {
      moving_ = loops_.size();  // nothing stays: every step counts
    }
    slides_ = holds && moving_ != kNoLoop &&
              (!boundary.child || problem.arch().levels[*boundary.child].sliding);
  }

  // Elements that cross at the parent's end; `merged`: fanouts whose instances share a transfer.
  std::int64_t crossing(std::size_t first_above, LoopUse above, IdSet<FanoutId> merged) {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (!loops_[i].fanout) {
        const bool counted = moving_ != kNoLoop && i <= moving_;
        uses_[i] = counted ? LoopUse::kSum : LoopUse::kFirst;
      } else if (i < first_above) {
        uses_[i] = above;
      } else {
        uses_[i] = merged.contains(*loops_[i].fanout) ? LoopUse::kMerge : LoopUse::kSum;
      }
    }
    return counted(merged.empty());
  }
  std::int64_t parent_side(LoopUse above) {
    return crossing(boundary_.parent_position, above, merged_);
  }
  std::int64_t child_side(LoopUse above) { return crossing(loops_.size(), above, {}); }

  // X: distinct elements that an instance meets in the whole run; `instance_position` loops are
  // above it. Summed over instances, or of the first one.
  std::int64_t distinct(std::size_t instance_position, LoopUse above) {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      uses_[i] = loops_[i].fanout && i < instance_position ? above : LoopUse::kMerge;
    }
    return volume(workload_, tensor_, {loops_, uses_, kNoLoop, true});
  }

  IdSet<FanoutId> merged() const { return merged_; }

  // What crosses the network of a fanout of this boundary.
  NetworkCounts network(FanoutId fanout) {
    NetworkCounts at;
    IdSet<FanoutId> merged = merged_;  // those further in
    for (std::size_t f = 0; f <= index_of(fanout); ++f) {
      merged.erase(FanoutId(f));
    }
    const bool apart = merged.empty();
    at.received = at.words = at.routed = crossing(boundary_.parent_position, LoopUse::kSum, merged);
    if (merged_.contains(fanout)) {
      merged.insert(fanout);
      at.words = crossing(boundary_.parent_position, LoopUse::kSum, merged);
    }
    const Routes routes(loops_, fanout, problem_.arch().fanouts[fanout].y,
                        problem_.shared_dims(fanout, boundary_.tensor));
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      uses_[i] = routes.separates(loops_[i]) ? LoopUse::kSum : uses_[i];
    }
    at.routed = counted(apart);
    at.half_hops = nest_.perfect ? at.routed / routes.groups() * routes.half_hops()
                                 : weigh_routes(routes, apart);
    if (boundary_.tensor == workload_.output()) {
      std::size_t outside = 0;  // loops above the network
      while (outside < loops_.size() &&
             !(loops_[outside].fanout && *loops_[outside].fanout >= fanout)) {
        ++outside;
      }
      at.returns = at.words - distinct(outside, LoopUse::kSum);
    }
    return at;
  }

 private:
  std::int64_t counted(bool apart) const {
    return volume(workload_, tensor_,
                  {loops_, uses_, slides_ ? moving_ : kNoLoop, together_ || apart, indices_});
  }

  // Half hops of all groups: of each, what it takes in over its route. Where a loop's tiles are
  // full, groups take in alike.
  std::int64_t weigh_routes(const Routes& routes, bool apart) {
    std::vector<std::size_t> loops;  // that tell groups apart
    std::vector<std::int64_t> full;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (routes.separates(loops_[i])) {
        loops.push_back(i);
        full.push_back(always_full(i));
        uses_[i] = LoopUse::kFirst;
      }
    }
    std::map<std::vector<std::int64_t>, std::int64_t>
        known;  // by the indices of one of those alike
    std::vector<std::int64_t> pick(loops.size(), 0);
    indices_.assign(loops_.size(), 0);
    std::int64_t sum = 0;
    std::size_t k = 0;
    do {
      std::int64_t column = 0;
      std::int64_t row = 0;
      for (std::size_t l = 0; l < loops.size(); ++l) {
        const NestLoop& loop = loops_[loops[l]];
        (loop.axis == Axis::kX ? column : row) += pick[l] * loop.stride;
        indices_[loops[l]] = pick[l] < full[l] ? 0 : pick[l];
      }
      const auto [at, fresh] = known.try_emplace(indices_, 0);
      if (fresh) {
        at->second = counted(apart);
      }
      sum += at->second * routes.half_hops(column, row);
      for (k = 0; k < loops.size() && ++pick[k] == loops_[loops[k]].bound; ++k) {
        pick[k] = 0;
      }
    } while (k < loops.size());
    indices_.clear();
    return sum;
  }

  // Indices of a loop, from 0 on, at which its tile is full whatever the loops outside do.
  std::int64_t always_full(std::size_t i) const {
    std::vector<std::int64_t> sizes{workload_.dims[loops_[i].dim].bound};  // that it may cut
    for (std::size_t k = 0; k < i; ++k) {
      if (loops_[k].dim != loops_[i].dim) {
        continue;
      }
      std::vector<std::int64_t> tiles;
      for (const std::int64_t size : sizes) {
        tiles.push_back(std::min(size, loops_[k].extent));
        if (size % loops_[k].extent != 0) {
          tiles.push_back(size % loops_[k].extent);
        }
      }
      sizes = std::move(tiles);
    }
    return *std::min_element(sizes.begin(), sizes.end()) / loops_[i].extent;
  }

  const Problem& problem_;
  const Nest& nest_;
  const Workload& workload_;
  const Tensor& tensor_;
  const Boundary& boundary_;
  std::span<const NestLoop> loops_;
  std::vector<LoopUse> uses_;
  std::vector<std::int64_t> indices_;  // of the groups being weighed
  std::size_t moving_ = kNoLoop;       // j: the innermost temporal loop that moves the tile
  bool slides_ = false;
  bool together_ = true;
  IdSet<FanoutId> merged_;
};

void count_operand(BoundaryCounter& counter, const Boundary& boundary, Counts& counts) {
  TensorCounts& parent = counts.levels[boundary.parent][boundary.tensor];
  parent.total.reads = counter.parent_side(LoopUse::kSum);
  parent.busiest.reads = counter.parent_side(LoopUse::kFirst);
  if (boundary.child) {
    TensorCounts& child = counts.levels[*boundary.child][boundary.tensor];
    child.total.fills = counter.child_side(LoopUse::kSum);
    child.busiest.fills = counter.child_side(LoopUse::kFirst);
  }
}

void count_output(BoundaryCounter& counter, const Boundary& boundary, Counts& counts) {
  TensorCounts& parent = counts.levels[boundary.parent][boundary.tensor];
  const auto up = [&](AccessCounts& at, LoopUse above) {
    at.updates = counter.parent_side(above);
    at.readbacks = at.updates - counter.distinct(boundary.parent_position, above);
  };
  up(parent.total, LoopUse::kSum);
  up(parent.busiest, LoopUse::kFirst);
  if (boundary.child) {
    TensorCounts& child = counts.levels[*boundary.child][boundary.tensor];
    const auto down = [&](AccessCounts& at, LoopUse above) {
      at.drains = counter.child_side(above);
      at.fills = at.drains - counter.distinct(boundary.child_position, above);
    };
    down(child.total, LoopUse::kSum);
    down(child.busiest, LoopUse::kFirst);
  }
  // On the way up each merging fanout adds what enters it to what leaves it, innermost first.
  IdSet<FanoutId> merged;
  std::int64_t entering = -1;
  for (std::size_t f = counts.reductions.size(); f-- > 0;) {
    const auto fanout = static_cast<FanoutId>(f);
    if (counter.merged().contains(fanout)) {
      if (entering < 0) {
        entering = counter.child_side(LoopUse::kSum);
      }
      merged.insert(fanout);
      const std::int64_t leaving =
          counter.crossing(boundary.parent_position, LoopUse::kSum, merged);
      counts.reductions[fanout] += entering - leaving;
      entering = leaving;
    }
  }
}

void count_tensor(const Problem& problem, const Nest& nest, TensorId tensor, Counts& counts) {
  const Workload& workload = problem.workload();
  const auto& placements = nest.placements[tensor];
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const Placement& parent = placements[static_cast<LevelId>(i)];
    Boundary boundary{tensor, std::nullopt, parent.level, nest.loops.size(), parent.position};
    if (i + 1 < placements.size()) {
      const Placement& child = placements[static_cast<LevelId>(i + 1)];
      boundary.child = child.level;
      boundary.child_position = child.position;
    }
    BoundaryCounter counter(problem, nest, boundary);
    if (tensor == workload.output()) {
      count_output(counter, boundary, counts);
    } else {
      count_operand(counter, boundary, counts);
    }
    for (const FanoutId f : counts.networks.ids()) {
      if (asks_for_hops(problem.arch(), f, boundary.parent, boundary.child)) {
        counts.networks[f][tensor] = counter.network(f);
      }
    }
  }
}

// Temporal steps of the first compute instance: design section 4.
std::int64_t steps_of_first(const Workload& workload, const Nest& nest) {
  std::int64_t steps = 1;
  if (nest.perfect) {
    for (const NestLoop& loop : nest.loops) {
      steps *= loop.fanout ? 1 : loop.bound;
    }
    return steps;
  }
  std::vector<LoopUse> uses;
  uses.reserve(nest.loops.size());
  for (const NestLoop& loop : nest.loops) {
    uses.push_back(loop.fanout ? LoopUse::kFirst : LoopUse::kSum);
  }
  for (const DimId d : workload.dims.ids()) {
    steps *= visits(workload, d, {nest.loops, uses, kNoLoop, true});
  }
  return steps;
}

void clear(const Problem& problem, Counts& counts) {
  counts.levels.resize(problem.arch().levels.size());
  for (auto& level : counts.levels) {
    level.resize(problem.workload().tensors.size());
    for (TensorCounts& at : level) {
      at = TensorCounts{};
    }
  }
  counts.networks.resize(problem.arch().fanouts.size());
  for (auto& network : counts.networks) {
    network.resize(problem.workload().tensors.size());
    for (NetworkCounts& at : network) {
      at = NetworkCounts{};
    }
  }
  for (auto* per_fanout : {&counts.reductions, &counts.used_x, &counts.used_y}) {
    per_fanout->resize(problem.arch().fanouts.size());
    for (std::int64_t& n : *per_fanout) {
      n = per_fanout == &counts.reductions ? 0 : 1;
    }
  }
}

// Distinct points of a tensor's tile of these extents.
std::int64_t tile_points(const Tensor& tensor, const TensorShape& shape,
                         const PerDim<std::int64_t>& extents) {
  std::int64_t points = 1;
  for (std::uint32_t dims = shape.single_dims.bits(); dims != 0; dims &= dims - 1) {
    points *= extents[static_cast<DimId>(std::countr_zero(dims))];
  }
  for (const WindowRank& window : shape.windows) {
    const Rank& rank = tensor.ranks[window.rank];
    points *= rank.terms.size() == 2
                  ? coprime_window_points(window.stride_p, extents[rank.terms[0].dim],
                                          window.stride_r, extents[rank.terms[1].dim])
                  : rank_points(rank, extents);
  }
  return points;
}

// Tiles, in one sweep down the nest.
void place(const Problem& problem, const Nest& nest, Counts& counts) {
  const Workload& workload = problem.workload();
  PerDim<std::int64_t> extents = bounds_of(workload);
  std::size_t position = 0;
  for (const KeepAt& keep : nest.keeps) {
    for (; position < keep.position; ++position) {
      const NestLoop& loop = nest.loops[position];
      extents[loop.dim] = std::min(loop.extent, extents[loop.dim]);
    }
    for (std::uint32_t tensors = keep.tensors.bits(); tensors != 0; tensors &= tensors - 1) {
      const auto t = static_cast<TensorId>(std::countr_zero(tensors));
      TensorCounts& at = counts.levels[keep.level][t];
      at.kept = true;
      at.footprint = tile_points(workload.tensors[t], problem.shape(t), extents);
    }
  }
}

void count_accesses(const Problem& problem, const Nest& nest, TensorId t, Counts& counts) {
  const PerFanout<std::int64_t> reductions = counts.reductions;
  if (!nest.perfect || !count_perfect(problem, nest, t, counts)) {
    counts.reductions = reductions;  // of a perfect count given up half way
    count_tensor(problem, nest, t, counts);
  }
}

}  // namespace

void count_capacities_into(const Problem& problem, const Nest& nest, Counts& counts) {
  const Workload& workload = problem.workload();
  clear(problem, counts);
  counts.macs = problem.macs();
  for (const NestLoop& loop : nest.loops) {
    if (loop.fanout) {
      (loop.axis == Axis::kX ? counts.used_x : counts.used_y)[*loop.fanout] *= loop.bound;
    }
  }
  place(problem, nest, counts);
  count_accesses(problem, nest, workload.output(), counts);
  assign_widths(workload, counts);
}

void count_operands_into(const Problem& problem, const Nest& nest, Counts& counts) {
  const Workload& workload = problem.workload();
  counts.steps = steps_of_first(workload, nest);
  for (const TensorId t : workload.tensors.ids()) {
    if (t != workload.output()) {
      count_accesses(problem, nest, t, counts);
    }
  }
  assign_ports(counts);
  assign_network_widths(workload, counts);
}

void count_boundaries_into(const Problem& problem, const Nest& nest, Counts& counts) {
  const Workload& workload = problem.workload();
  for (const TensorId t : workload.tensors.ids()) {
    count_tensor(problem, nest, t, counts);
  }
  place(problem, nest, counts);
  counts.steps = steps_of_first(workload, nest);
}

Counts count(const Problem& problem, const Mapping& mapping) {
  Counts counts;
  const Nest nest = make_nest(problem.workload(), mapping);
  count_capacities_into(problem, nest, counts);
  count_operands_into(problem, nest, counts);
  return counts;
}

}  // namespace mapsim
