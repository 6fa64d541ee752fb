// SPDX-License-Identifier: Apache-2.0
// count_perfect.cpp in lanes: the rules are explained there, and the tests compare the two. What
// depends on the structure alone is decided once for all mappings; every loop has a bound > 1, so
// blocks are consecutive exactly if no loop stands between them.
#include "costmodel/bulk_count.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace mapsim {

namespace {

// What one dim of a window contributes on one side of a boundary: `count` blocks of `size`,
// `spacing` apart.
struct WindowDim {
  double stride = 1;
  double coprime = 1;  // stride / gcd of the rank's two strides
  Lanes size;
  bool comb = false;  // count > 1, blocks apart
  Lanes count;
  Lanes spacing;
  Lanes times{1};  // situations alike
  bool slides = false;
  Lanes steps;               // of the sliding loop
  Lanes shift;               // of one such step, in indices
  bool consecutive = false;  // shift == size
};

// F(a, b) = a*b - max(0, a - r') * max(0, b - p'): window_points().
Lanes window_points(double coprime_p, const Lanes& a, double coprime_r, const Lanes& b) {
  return map(
      [=](double x, double y) {
        const double over_x = x - coprime_r > 0 ? x - coprime_r : 0;
        const double over_y = y - coprime_p > 0 ? y - coprime_p : 0;
        return x * y - over_x * over_y;
      },
      a, b);
}

Lanes span_of(const WindowDim& a, const WindowDim& b) {
  return map([sa = a.stride, sb = b.stride](double x,
                                            double y) { return sa * (x - 1) + sb * (y - 1) + 1; },
             a.size, b.size);
}

void note_misses(Lanes& misses, const Lanes& more) { misses = max(misses, more); }

// |U|; at most `a` is a comb.
Lanes union_of(const WindowDim& a, const Lanes& points, const Lanes& span, Lanes& misses) {
  if (!a.comb) {
    return points;
  }
  const Lanes spacing = a.spacing * a.stride;
  note_misses(misses,
              map([](double apart, double whole,
                     double distinct) { return apart < whole && distinct != whole ? 1.0 : 0.0; },
                  spacing, span, points));
  const Lanes joined =
      map([](double n, double apart, double whole) { return (n - 1) * apart + whole; }, a.count,
          spacing, span);
  const Lanes separate = a.count * points;
  Lanes all;
  for (std::size_t i = 0; i < kLanes; ++i) {
    all.at[i] = spacing.at[i] >= span.at[i] ? separate.at[i] : joined.at[i];
  }
  return all;
}

// Points gained when the union is shifted by `shift` coordinates; at most `a` is a comb.
Lanes gained_by(const WindowDim& a, const Lanes& points, const Lanes& span, const Lanes& shift,
                Lanes& misses) {
  Lanes gained;
  if (!a.comb) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const bool holes = points.at[i] != span.at[i];
      const bool beyond = shift.at[i] >= span.at[i];
      gained.at[i] = beyond ? points.at[i] : shift.at[i];
      misses.at[i] = holes && !beyond ? 1.0 : misses.at[i];
    }
    return gained;
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double n = a.count.at[i];
    const double block = span.at[i];
    const double by = shift.at[i];
    const double spacing = a.stride * a.spacing.at[i];
    const double whole = (n - 1) * spacing + block;
    const bool touching = spacing <= block;
    const bool miss = points.at[i] != block || (!touching && by < whole && by >= spacing);
    const double kept = by < block ? block - by : 0;
    const double regained = by + block > spacing ? by + block - spacing : 0;
    const double apart = by >= whole ? n * block : n * (block - kept) - (n - 1) * regained;
    gained.at[i] = touching ? (by < whole ? by : whole) : apart;
    misses.at[i] = miss ? 1.0 : misses.at[i];
  }
  return gained;
}

// A_rank or B_rank of a two-dim rank.
std::optional<Lanes> window_of(const WindowDim& p, const WindowDim& r, Lanes& misses) {
  if (p.comb && r.comb) {
    return std::nullopt;
  }
  const WindowDim& a = p.comb ? p : r;
  const WindowDim& b = p.comb ? r : p;
  const Lanes points = window_points(a.coprime, a.size, b.coprime, b.size);
  const Lanes span = span_of(a, b);
  Lanes all = union_of(a, points, span, misses);
  for (const WindowDim* moving : {&p, &r}) {
    if (!moving->slides) {
      continue;
    }
    const WindowDim& other = moving == &p ? r : p;
    const Lanes gained =
        !a.comb && moving->consecutive
            ? window_points(moving->coprime, moving->size * 2, other.coprime, other.size) - all
            : gained_by(a, points, span, moving->shift * moving->stride, misses);
    all += map([](double steps, double more) { return (steps - 1) * more; }, moving->steps, gained);
    break;
  }
  all *= p.times;
  all *= r.times;
  return all;
}

struct Side {
  std::size_t child = 0;   // loops above the child
  std::size_t parent = 0;  // loops above the instance that is asked: the parent, or child itself
  std::size_t moving = kNoLoop;
  bool busiest = false;
};

class BulkCounter {
 public:
  BulkCounter(const BulkNest& bulk, TensorId tensor, LevelSet busiest,
              std::vector<BulkTensorCounts>& levels, std::vector<Lanes>& reductions, Lanes& misses)
      : bulk_{bulk},
        problem_{bulk.problem},
        nest_{bulk.nest},
        t_{tensor},
        tensor_{problem_.workload().tensors[tensor]},
        shape_{problem_.shape(tensor)},
        points_{static_cast<double>(shape_.single_points)},
        busiest_{busiest},
        levels_{levels},
        reductions_{reductions},
        misses_{misses},
        latched_{problem_.arch().compute.register_reuse.contains(tensor_.role)},
        output_{tensor == problem_.workload().output()} {}

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
    const Lanes& bound = bulk_.bounds[i];
    const bool relevant = shape_.dims.contains(loop.dim);
    if (!loop.fanout) {
      if (relevant) {
        moving_ = i;
        trips_ = steps_;
      } else {
        steps_ *= bound;
      }
      return;
    }
    const bool merged = problem_.is_merged(*loop.fanout, t_);
    if (merged) {
      together_ = together_ && problem_.arch().fanouts[*loop.fanout].forwarding;
    }
    if (shape_.single_dims.contains(loop.dim)) {
      share_ *= bound;
    } else if (!relevant) {
      copies_ *= bound;
      if (!merged) {
        unmerged_ *= bound;
      } else if (output_) {
        merged_[index_of(*loop.fanout)] *= bound;
        merges_.insert(*loop.fanout);
      }
    }
  }

  void keep(LevelId level, std::size_t position) {
    parent_ = level;
    parent_position_ = position;
    parent_share_ = share_;
    parent_copies_ = copies_;
    unmerged_ = Lanes(1);
    together_ = true;
    merged_.fill(Lanes(1));
    merges_ = {};
  }

  // The boundary between the last keep and a child, or the compute units.
  bool cross(std::optional<LevelId> child, std::size_t position) {
    const bool holds = child || latched_;
    const Lanes trips = !holds ? steps_ : (moving_ == kNoLoop ? Lanes(1) : trips_);
    const bool slides = holds && (!child || problem_.arch().levels[*child].sliding);
    Side side{position, parent_position_, slides ? moving_ : kNoLoop, false};
    // Where no loop over a window dim is parallel, every side of the boundary sees the same tiles.
    const bool alike = (shape_.window_dims & nest_.parallel).empty();
    const std::optional<Lanes> up = windows(side);
    if (!up) {
      return false;
    }
    BulkTensorCounts& parent = levels_[index_of(parent_)];
    add_parent(parent.total, *up * trips * parent_copies_ * unmerged_ * points_,
               parent_copies_ * points_);
    if (busiest_.contains(parent_)) {
      side.busiest = true;
      const std::optional<Lanes> busy = alike ? up : windows(side);
      if (!busy) {
        return false;
      }
      const Lanes own = Lanes(points_) / parent_share_;
      add_parent(parent.busiest, *busy * trips * unmerged_ * own, own);
    }
    if (output_) {
      reduce(trips * copies_ * points_);
    }
    return !child || arrive(*child, side, trips, alike ? up : std::nullopt);
  }

  // `distinct`: points that are met in the whole run.
  void add_parent(BulkAccess& at, const Lanes& above, const Lanes& distinct) const {
    if (output_) {
      at.updates = above;
      at.readbacks = above - distinct;
    } else {
      at.reads = above;
    }
  }
  void add_child(BulkAccess& at, const Lanes& below, const Lanes& distinct) const {
    if (output_) {
      at.drains = below;
      at.fills = below - distinct;
    } else {
      at.fills = below;
    }
  }

  bool arrive(LevelId level, Side side, const Lanes& trips, const std::optional<Lanes>& alike) {
    side.parent = side.child;
    side.busiest = false;
    const std::optional<Lanes> all = alike ? alike : windows(side);
    if (!all) {
      return false;
    }
    BulkTensorCounts& child = levels_[index_of(level)];
    add_child(child.total, *all * trips * copies_ * points_, copies_ * points_);
    if (busiest_.contains(level)) {
      side.busiest = true;
      const std::optional<Lanes> busy = alike ? alike : windows(side);
      if (!busy) {
        return false;
      }
      const Lanes own = Lanes(points_) / share_;
      add_child(child.busiest, *busy * trips * own, own);
    }
    return true;
  }

  // Each merging fanout adds what enters it to what leaves it, innermost first.
  void reduce(Lanes entering) {
    for (std::size_t f = reductions_.size(); f-- > 0;) {
      if (merges_.contains(static_cast<FanoutId>(f))) {
        const Lanes leaving = entering / merged_[f];
        reductions_[f] += entering - leaving;
        entering = leaving;
      }
    }
  }

  // Product over the window ranks.
  std::optional<Lanes> windows(const Side& side) const {
    Lanes product(1);
    for (const WindowRank& window : shape_.windows) {
      const auto& terms = tensor_.ranks[window.rank].terms;
      std::array<WindowDim, 2> dims;
      dims[0].coprime = static_cast<double>(window.stride_p);
      dims[1].coprime = static_cast<double>(window.stride_r);
      for (std::size_t i = 0; i < 2; ++i) {
        dims[i].stride = static_cast<double>(terms[i].coefficient);
        if (!window_dim(terms[i].dim, side, dims[i])) {
          return std::nullopt;
        }
      }
      const std::optional<Lanes> points = window_of(dims[0], dims[1], misses_);
      if (!points) {
        return std::nullopt;
      }
      product *= *points;
    }
    return product;
  }

  // From the child outwards.
  bool window_dim(DimId d, const Side& side, WindowDim& dim) const {
    dim.size = bulk_.extent_at(d, side.child);
    bool forwards = true;
    bool consecutive = true;      // nothing but blocks side by side so far
    std::size_t inner = kNoLoop;  // the loop over the dim before this one
    std::size_t comb = kNoLoop;   // the outermost loop of the comb
    for (std::size_t i = nest_.last_before(d, side.child); i != kNoLoop;
         inner = i, i = nest_.loops[i].previous) {
      const NestLoop& loop = nest_.loops[i];
      const Lanes& bound = bulk_.bounds[i];
      const bool shared = loop.fanout && i >= side.parent && problem_.is_merged(*loop.fanout, t_);
      forwards = shared ? together_ : forwards;
      if (i == side.moving) {
        dim.slides = true;
        dim.steps = bound;
        dim.shift = bulk_.extents[i];
        dim.consecutive = consecutive;
      } else if (!shared) {
        if (!loop.fanout || i >= side.parent || !side.busiest) {
          dim.times *= bound;
        }
      } else if (consecutive) {
        dim.size *= bound;
      } else if (!dim.comb) {
        dim.comb = true;
        dim.count = bound;
        dim.spacing = bulk_.extents[i];
        comb = i;
      } else if (inner == comb) {
        dim.count *= bound;
        comb = i;
      } else {
        return false;
      }
      consecutive = consecutive && shared;
    }
    return forwards;
  }

  const BulkNest& bulk_;
  const Problem& problem_;
  const Nest& nest_;
  TensorId t_;
  const Tensor& tensor_;
  const TensorShape& shape_;
  double points_;  // of the dims alone in their rank
  LevelSet busiest_;
  std::vector<BulkTensorCounts>& levels_;
  std::vector<Lanes>& reductions_;
  Lanes& misses_;
  bool latched_;
  bool output_;

  Lanes steps_{1};  // of irrelevant temporal loops so far
  Lanes trips_{1};  // ... when the tile moved last
  std::size_t moving_ = kNoLoop;
  Lanes share_{1};     // relevant (windowless) parallel bounds so far
  Lanes copies_{1};    // irrelevant ones
  Lanes unmerged_{1};  // irrelevant ones since the parent that do not merge
  bool together_ = true;
  std::array<Lanes, kMaxFanouts> merged_;  // ... that do, per fanout
  IdSet<FanoutId> merges_;                 // fanouts with any of them
  LevelId parent_{};
  std::size_t parent_position_ = 0;
  Lanes parent_share_{1};
  Lanes parent_copies_{1};
};

}  // namespace

Lanes bulk_footprint(const BulkNest& bulk, TensorId tensor, std::size_t position) {
  const TensorShape& shape = bulk.problem.shape(tensor);
  Lanes points(1);
  for (const DimId d : bulk.problem.workload().dims.ids()) {
    if (shape.single_dims.contains(d)) {
      points *= bulk.extent_at(d, position);
    }
  }
  for (const WindowRank& window : shape.windows) {
    const auto& terms = bulk.problem.workload().tensors[tensor].ranks[window.rank].terms;
    points *=
        window_points(static_cast<double>(window.stride_p), bulk.extent_at(terms[0].dim, position),
                      static_cast<double>(window.stride_r), bulk.extent_at(terms[1].dim, position));
  }
  return points;
}

bool bulk_count(const BulkNest& bulk, TensorId tensor, LevelSet busiest,
                std::vector<BulkTensorCounts>& levels, std::vector<Lanes>& reductions,
                Lanes& misses) {
  return BulkCounter(bulk, tensor, busiest, levels, reductions, misses).run();
}

}  // namespace mapsim
