// SPDX-License-Identifier: Apache-2.0
#include "costmodel/count_perfect.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "costmodel/crossing.hpp"
#include "costmodel/network.hpp"
#include "costmodel/window.hpp"

namespace mapsim {

namespace {

// Indices of one dim that share a transfer: `count` blocks of `size`, `spacing` apart.
struct Comb {
  std::int64_t size = 1;
  std::int64_t count = 1;
  std::int64_t spacing = 0;
  bool merge(std::int64_t blocks, std::int64_t block_extent) {
    if (count == 1 && block_extent == size) {
      size *= blocks;
    } else if (count == 1) {
      count = blocks;
      spacing = block_extent;
    } else if (block_extent == spacing * count) {
      count *= blocks;
    } else {
      return false;
    }
    return true;
  }
};

// What one dim of a window contributes on one side of a boundary.
struct WindowDim {
  std::int64_t stride = 1;
  std::int64_t coprime = 1;  // stride / gcd of the rank's two strides
  Comb comb;
  std::int64_t times = 1;  // situations alike
  std::int64_t steps = 1;  // of the sliding loop, if it is over this dim
  std::int64_t shift = 0;  // of one such step, in indices
};

using Points = std::optional<std::int64_t>;  // nullopt: no product form here

std::int64_t span_of(const WindowDim& a, const WindowDim& b) {
  return a.stride * (a.comb.size - 1) + b.stride * (b.comb.size - 1) + 1;
}

std::int64_t block_points(const WindowDim& a, const WindowDim& b) {
  return coprime_window_points(a.coprime, a.comb.size, b.coprime, b.comb.size);
}

// |U|; at most `a` is a comb.
Points union_of(const WindowDim& a, const WindowDim& b) {
  const std::int64_t points = block_points(a, b);
  if (a.comb.count == 1) {
    return points;
  }
  const std::int64_t span = span_of(a, b);
  const std::int64_t spacing = a.stride * a.comb.spacing;
  if (spacing >= span) {
    return a.comb.count * points;
  }
  if (points == span) {
    return (a.comb.count - 1) * spacing + span;
  }
  return std::nullopt;
}

// Points gained when the union is shifted by `shift` coordinates; at most `a` is a comb.
Points gained_by(const WindowDim& a, const WindowDim& b, std::int64_t shift) {
  const std::int64_t points = block_points(a, b);
  const std::int64_t span = span_of(a, b);
  if (points != span) {
    return a.comb.count == 1 && shift >= span ? Points{points} : std::nullopt;
  }
  if (a.comb.count == 1) {
    return std::min(span, shift);
  }
  const std::int64_t spacing = a.stride * a.comb.spacing;
  const std::int64_t whole = (a.comb.count - 1) * spacing + span;
  if (spacing <= span) {
    return std::min(whole, shift);
  }
  if (shift >= whole) {
    return a.comb.count * span;
  }
  if (shift >= spacing) {
    return std::nullopt;
  }
  return a.comb.count * (span - std::max<std::int64_t>(0, span - shift)) -
         (a.comb.count - 1) * std::max<std::int64_t>(0, shift + span - spacing);
}

// A_rank or B_rank of a two-dim rank.
Points window_of(const WindowDim& p, const WindowDim& r) {
  if (p.comb.count > 1 && r.comb.count > 1) {
    return std::nullopt;
  }
  const WindowDim& a = p.comb.count > 1 ? p : r;
  const WindowDim& b = p.comb.count > 1 ? r : p;
  const Points all = union_of(a, b);
  if (!all) {
    return std::nullopt;
  }
  const std::int64_t times = p.times * r.times;
  for (const WindowDim* moving : {&p, &r}) {
    if (moving->steps == 1) {
      continue;
    }
    const WindowDim& other = moving == &p ? r : p;
    Points gained;
    if (a.comb.count == 1 && moving->shift == moving->comb.size) {
      // Consecutive tiles: exact with or without holes.
      gained = window_points(moving->stride, 2 * moving->comb.size, other.stride, other.comb.size) -
               *all;
    } else {
      gained = gained_by(a, b, moving->stride * moving->shift);
    }
    if (!gained) {
      return std::nullopt;
    }
    return times * (*all + (moving->steps - 1) * *gained);
  }
  return times * *all;
}

// The loops above the child of one boundary, and how they take part on one side of it.
struct Side {
  std::size_t child = 0;   // loops above the child
  std::size_t parent = 0;  // loops above the instance that is asked: the parent, or child itself
  std::size_t moving = kNoLoop;
  bool busiest = false;
};

class PerfectCounter {
 public:
  PerfectCounter(const Problem& problem, const Nest& nest, TensorId tensor, Counts& counts)
      : problem_{problem},
        nest_{nest},
        t_{tensor},
        tensor_{problem.workload().tensors[tensor]},
        shape_{problem.shape(tensor)},
        counts_{counts},
        latched_{problem.arch().compute.register_reuse.contains(tensor_.role)},
        output_{tensor == problem.workload().output()} {}

  bool run() {
    const auto& placements = nest_.placements[t_];
    keep(placements[LevelId{0}].level, 0);
    std::size_t i = 0;
    for (std::size_t next = 1; next < placements.size(); ++next) {
      const Placement& child = placements[LevelId(next)];
      for (; i < child.position; ++i) {
        pass(nest_.loops[i], i);
      }
      if (!cross(child.level, i)) {
        return false;
      }
      keep(child.level, i);
    }
    for (; i < nest_.loops.size(); ++i) {
      pass(nest_.loops[i], i);
    }
    return cross(std::nullopt, i);
  }

 private:
  void pass(const NestLoop& loop, std::size_t i) {
    const bool relevant = shape_.dims.contains(loop.dim);
    const bool single = shape_.single_dims.contains(loop.dim);
    if (!loop.fanout) {
      if (relevant) {
        moving_ = i;
        repeats_ = steps_;
      } else {
        steps_ *= loop.bound;
      }
      return;
    }
    if (problem_.is_merged(*loop.fanout, t_)) {
      together_ = together_ && problem_.arch().fanouts[*loop.fanout].forwarding;
    }
    if (single) {
      share_ *= loop.bound;
    } else if (!relevant) {
      copies_ *= loop.bound;
      irrelevant_[index_of(*loop.fanout)] *= loop.bound;
      if (!problem_.is_merged(*loop.fanout, t_)) {
        unmerged_ *= loop.bound;
      }
    }
  }

  void keep(LevelId level, std::size_t position) {
    parent_ = level;
    parent_position_ = position;
    parent_share_ = share_;
    parent_copies_ = copies_;
    unmerged_ = 1;
    together_ = true;
    irrelevant_.fill(1);
  }

  // The boundary between the last keep and a child, or the compute units.
  bool cross(std::optional<LevelId> child, std::size_t position) {
    const bool holds = child || latched_;
    const std::int64_t repeats = holds ? (moving_ == kNoLoop ? 1 : repeats_) : steps_;
    const bool slides = holds && (!child || problem_.arch().levels[*child].sliding);
    Side side{position, parent_position_, slides ? moving_ : kNoLoop, false};
    const Points up = windows(side);
    // Where no loop over a window dim is parallel, every side of the boundary sees the same tiles.
    const Points same = (shape_.window_dims & nest_.parallel).empty() ? up : std::nullopt;
    side.busiest = true;
    const Points busy_up = same ? same : windows(side);
    if (!up || !busy_up) {
      return false;
    }
    const std::int64_t points = shape_.single_points;
    TensorCounts& parent = counts_.levels[parent_][t_];
    const std::int64_t above = points * *up * repeats * parent_copies_ * unmerged_;
    const std::int64_t busy_above = points / parent_share_ * *busy_up * repeats * unmerged_;
    if (output_) {
      parent.total.updates = above;
      parent.total.readbacks = above - points * parent_copies_;
      parent.busiest.updates = busy_above;
      parent.busiest.readbacks = busy_above - points / parent_share_;
      reduce(points * repeats * copies_);
    } else {
      parent.total.reads = above;
      parent.busiest.reads = busy_above;
    }
    return (!child || arrive(*child, side, repeats, same)) &&
           count_networks(child, side, repeats, same);
  }

  bool arrive(LevelId level, Side side, std::int64_t repeats, Points same) {
    side.parent = side.child;
    const Points busy = same ? same : windows(side);
    side.busiest = false;
    const Points all = same ? same : windows(side);
    if (!all || !busy) {
      return false;
    }
    const std::int64_t points = shape_.single_points;
    TensorCounts& child = counts_.levels[level][t_];
    const std::int64_t total = points * *all * repeats * copies_;
    const std::int64_t busiest = points / share_ * *busy * repeats;
    if (output_) {
      child.total.drains = total;
      child.total.fills = total - points * copies_;
      child.busiest.drains = busiest;
      child.busiest.fills = busiest - points / share_;
    } else {
      child.total.fills = total;
      child.busiest.fills = busiest;
    }
    return true;
  }

  // Irrelevant instances whose transfers a fanout merges into one.
  std::int64_t merged(std::size_t f) const {
    return problem_.is_merged(FanoutId(f), t_) ? irrelevant_[f] : 1;
  }

  // What crosses the networks between the last keep and a child: what their instances receive,
  // further in each time, is what enters the next.
  bool count_networks(std::optional<LevelId> child, Side side, std::int64_t repeats, Points same) {
    const std::int64_t points = shape_.single_points;
    std::int64_t apart = copies_;  // irrelevant instances whose transfers are not merged yet
    std::int64_t outside = copies_;
    side.busiest = false;
    for (std::size_t f = counts_.networks.size(); f-- > 0;) {
      const FanoutId fanout{static_cast<std::uint8_t>(f)};
      outside /= irrelevant_[f];
      if (asks_for_hops(problem_.arch(), fanout, parent_, child)) {
        side.parent = first_loop_over(f + 1, side.child);
        const Points below = same ? same : windows(side);
        side.parent = first_loop_over(f, side.child);
        const Points above = same ? same : windows(side);
        if (!below || !above) {
          return false;
        }
        NetworkCounts& at = counts_.networks[fanout][t_];
        at.received = points * *below * repeats * apart;
        at.routed = at.received / merged(f);
        at.words = points * *above * repeats * (apart / merged(f));
        at.returns = output_ ? at.words - points * outside : 0;
        const Routes routes(nest_.loops, fanout, problem_.arch().fanouts[fanout].y,
                            problem_.shared_dims(fanout, t_));
        at.half_hops = at.routed / routes.groups() * routes.half_hops();
      }
      apart /= merged(f);
    }
    return true;
  }

  // The first loop since the last keep that is over fanout `f` or one further in.
  std::size_t first_loop_over(std::size_t f, std::size_t child) const {
    std::size_t i = parent_position_;
    while (i < child && !(nest_.loops[i].fanout && index_of(*nest_.loops[i].fanout) >= f)) {
      ++i;
    }
    return i;
  }

  // Each merging fanout adds what enters it to what leaves it, innermost first.
  void reduce(std::int64_t entering) {
    for (std::size_t f = counts_.reductions.size(); f-- > 0;) {
      const std::int64_t leaving = entering / merged(f);
      counts_.reductions[FanoutId(f)] += entering - leaving;
      entering = leaving;
    }
  }

  std::int64_t extent_at(DimId d, std::size_t position) const {
    const std::size_t i = nest_.last_before(d, position);
    return i == kNoLoop ? problem_.workload().dims[d].bound : nest_.loops[i].extent;
  }

  // Product over the window ranks.
  Points windows(const Side& side) const {
    std::int64_t product = 1;
    for (const WindowRank& window : shape_.windows) {
      const auto& terms = tensor_.ranks[window.rank].terms;
      std::array<WindowDim, 2> dims;
      dims[0].coprime = window.stride_p;
      dims[1].coprime = window.stride_r;
      for (std::size_t i = 0; i < 2; ++i) {
        dims[i].stride = terms[i].coefficient;
        if (!window_dim(terms[i].dim, side, dims[i])) {
          return std::nullopt;
        }
      }
      const Points points = window_of(dims[0], dims[1]);
      if (!points) {
        return std::nullopt;
      }
      product *= *points;
    }
    return product;
  }

  // From the child outwards.
  bool window_dim(DimId d, const Side& side, WindowDim& dim) const {
    dim.comb.size = extent_at(d, side.child);
    bool forwards = true;
    for (std::size_t i = nest_.last_before(d, side.child); i != kNoLoop;
         i = nest_.loops[i].previous) {
      const NestLoop& loop = nest_.loops[i];
      if (i == side.moving) {
        dim.steps = loop.bound;
        dim.shift = loop.extent;
      } else if (!loop.fanout) {
        dim.times *= loop.bound;
      } else if (i < side.parent) {
        dim.times *= side.busiest ? 1 : loop.bound;
      } else if (!problem_.is_merged(*loop.fanout, t_)) {
        dim.times *= loop.bound;
      } else if (!dim.comb.merge(loop.bound, loop.extent)) {
        return false;
      } else {
        forwards = together_;
      }
    }
    return forwards;
  }

  const Problem& problem_;
  const Nest& nest_;
  TensorId t_;
  const Tensor& tensor_;
  const TensorShape& shape_;
  Counts& counts_;
  bool latched_;
  bool output_;

  std::int64_t steps_ = 1;    // of irrelevant temporal loops so far
  std::int64_t repeats_ = 1;  // ... when the tile moved last
  std::size_t moving_ = kNoLoop;
  std::int64_t share_ = 1;     // relevant (windowless) parallel bounds so far
  std::int64_t copies_ = 1;    // irrelevant ones
  std::int64_t unmerged_ = 1;  // irrelevant ones since the parent that do not merge
  bool together_ = true;       // every merging fanout since the parent forwards
  std::array<std::int64_t, kMaxFanouts> irrelevant_{};  // irrelevant ones since the parent
  LevelId parent_{};
  std::size_t parent_position_ = 0;
  std::int64_t parent_share_ = 1;
  std::int64_t parent_copies_ = 1;
};

}  // namespace

bool count_perfect(const Problem& problem, const Nest& nest, TensorId tensor, Counts& counts) {
  const TensorShape& shape = problem.shape(tensor);
  if (!shape.simple) {
    return false;
  }
  return PerfectCounter(problem, nest, tensor, counts).run();
}

}  // namespace mapsim
