// SPDX-License-Identifier: Apache-2.0
#include "costmodel/timing/systolic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "costmodel/crossing.hpp"

namespace mapsim {

namespace {

// Cycles of b's load that do not hide behind a, and of a's way out that b has to wait for.
struct Gap {
  std::int64_t interval = 0;
  std::int64_t shown_load = 0;
};

// From the first operation of a fold to that of the next one.
Gap gap(const SystolicTiming& timing, const Fold& a, const Fold& b) {
  const std::int64_t busy = timing.hides_drain ? std::max(a.steps, a.drain) : a.steps + a.skew;
  // Shadow accumulators are a chain: sums that are resumed enter it as those before leave.
  const bool hides = timing.hides_load || (timing.hides_drain && b.drain > 0);
  const std::int64_t shown = hides ? std::max<std::int64_t>(b.load - busy, 0) : b.load;
  return {busy + shown, shown};
}

// Walks the loops of a nest as the first instance goes through them, outside in.
class FoldWalk {
 public:
  FoldWalk(const Problem& problem, const SystolicTiming& timing, const Nest& nest,
           const std::optional<Stationary>& stationary)
      : problem_{problem},
        timing_{timing},
        array_{problem.arch().fanouts[timing.array]},
        nest_{nest},
        stationary_{stationary},
        sizes_{bounds_of(problem.workload())} {}

  FoldSequence folds(std::size_t i) {
    if (!stationary_ || i == stationary_->folded) {
      return sequence_of(fold(i));
    }
    const NestLoop& loop = nest_.loops[i];
    const std::int64_t size = sizes_[loop.dim];
    const std::int64_t before_rows = rows_;
    const std::int64_t before_columns = columns_;
    sizes_[loop.dim] = std::min(size, loop.extent);
    FoldSequence found;
    if (loop.fanout) {
      use(loop, size);
      found = folds(i + 1);
    } else {
      found = rounds(i, size);
    }
    rows_ = before_rows;
    columns_ = before_columns;
    sizes_[loop.dim] = size;
    return found;
  }

 private:
  // Temporal loop i over a tile of `size`. From its second round on a loop that does not move the
  // sums resumes them.
  FoldSequence rounds(std::size_t i, std::int64_t size) {
    const NestLoop& loop = nest_.loops[i];
    const bool before = resumes_;
    const bool returns = stationary_->tensor == problem_.workload().output() &&
                         !problem_.shape(stationary_->tensor).dims.contains(loop.dim);
    const std::int64_t whole = size / loop.extent;
    FoldSequence found;
    if (whole > 0) {
      found = folds(i + 1);
      resumes_ = before || returns;
      if (whole > 1 && resumes_ != before) {
        found = join(timing_, found, repeat(timing_, folds(i + 1), whole - 1));
      } else {
        found = repeat(timing_, found, whole);
      }
    }
    if (const std::int64_t rest = size % loop.extent; rest > 0) {
      sizes_[loop.dim] = rest;
      const FoldSequence last = folds(i + 1);
      found = whole > 0 ? join(timing_, found, last) : last;
    }
    resumes_ = before;
    return found;
  }

  // The instances of the array that a parallel loop over a tile of `size` occupies.
  void use(const NestLoop& loop, std::int64_t size) {
    if (loop.fanout == timing_.array) {
      (loop.axis == Axis::kX ? columns_ : rows_) *= (size + loop.extent - 1) / loop.extent;
    }
  }

  // One fold, from loop i on.
  Fold fold(std::size_t i) {
    const std::int64_t cycles = steps(i) * problem_.arch().compute.issue_interval;
    PerDim<std::int64_t> sizes = sizes_;
    const std::int64_t used_rows = rows_;
    const std::int64_t used_columns = columns_;
    std::int64_t points = stationary_ && stationary_->position <= i ? points_of(sizes) : 0;
    for (; i < nest_.loops.size(); ++i) {
      const NestLoop& loop = nest_.loops[i];
      if (loop.fanout) {
        use(loop, sizes[loop.dim]);
      }
      sizes[loop.dim] = std::min(sizes[loop.dim], loop.extent);
      if (stationary_ && stationary_->position == i + 1) {
        points = points_of(sizes);
      }
    }
    const std::int64_t rows = timing_.full_folds ? array_.y : rows_;
    const std::int64_t columns = timing_.full_folds ? array_.x : columns_;
    const std::int64_t held = rows_ * columns_ * points;
    rows_ = used_rows;
    columns_ = used_columns;
    const bool sums = stationary_ && stationary_->tensor == problem_.workload().output();
    const Stays stays = !sums ? Stays::kOperand : resumes_ ? Stays::kResumedSums : Stays::kSums;
    Fold made = make_fold(cycles, rows, columns, points, stays);
    made.held = held;
    return made;
  }

  std::int64_t points_of(const PerDim<std::int64_t>& sizes) const {
    return footprint(problem_.workload().tensors[stationary_->tensor], sizes);
  }

  // Temporal steps of the first instance through the loops from i on.
  std::int64_t steps(std::size_t i) {
    if (i == nest_.loops.size()) {
      return 1;
    }
    const NestLoop& loop = nest_.loops[i];
    const std::int64_t size = sizes_[loop.dim];
    std::int64_t found = 0;
    sizes_[loop.dim] = std::min(size, loop.extent);
    if (loop.fanout) {
      found = steps(i + 1);
    } else {
      const std::int64_t whole = size / loop.extent;
      found = whole > 0 ? whole * steps(i + 1) : 0;
      if (const std::int64_t rest = size % loop.extent; rest > 0) {
        sizes_[loop.dim] = rest;
        found += steps(i + 1);
      }
    }
    sizes_[loop.dim] = size;
    return found;
  }

  const Problem& problem_;
  const SystolicTiming& timing_;
  const Fanout& array_;
  const Nest& nest_;
  std::optional<Stationary> stationary_;
  PerDim<std::int64_t> sizes_;  // of the first instance's tile where the walk stands
  std::int64_t rows_ = 1;       // instances of the array in use there
  std::int64_t columns_ = 1;
  bool resumes_ = false;  // the tile that stays has been there before
};

}  // namespace

Fold make_fold(std::int64_t steps, std::int64_t rows, std::int64_t columns, std::int64_t points,
               Stays stays) {
  Fold fold{steps, 0, 0, rows + columns - 2};
  if (stays != Stays::kOperand) {
    fold.drain = rows * points;
    fold.skew += fold.drain - rows;
  }
  if (stays != Stays::kSums) {
    fold.load = rows * points;
  }
  return fold;
}

FoldSequence sequence_of(const Fold& fold) {
  return {fold, fold, 1, 0, fold.steps, fold.load, 0, fold.held};
}

FoldSequence join(const SystolicTiming& timing, const FoldSequence& a, const FoldSequence& b) {
  const Gap between = gap(timing, a.last, b.first);
  return {a.first,
          b.last,
          a.count + b.count,
          a.interval + between.interval + b.interval,
          a.steps + b.steps,
          a.load + b.load,
          a.shown_load + between.shown_load + b.shown_load,
          a.held + b.held};
}

FoldSequence repeat(const SystolicTiming& timing, const FoldSequence& a, std::int64_t times) {
  const Gap between = gap(timing, a.last, a.first);
  return {a.first,
          a.last,
          times * a.count,
          times * a.interval + (times - 1) * between.interval,
          times * a.steps,
          times * a.load,
          times * a.shown_load + (times - 1) * between.shown_load,
          times * a.held};
}

ComputeTime time_of(const FoldSequence& folds) {
  ComputeTime time;
  const std::int64_t load = folds.first.load + folds.shown_load;
  const std::int64_t total = folds.first.load + folds.interval + folds.last.steps + folds.last.skew;
  time.folds = folds.count;
  time.busy = Cycles{folds.steps};
  time.load = Cycles{load};
  time.skew = Cycles{total - load - folds.steps};
  time.hidden_load = Cycles{folds.load - load};
  return time;
}

namespace {

constexpr double kNoAxis = 64;  // more than any array has instances, as log2

ArrayUse use_of(const Problem& problem, const SystolicTiming& timing, const Nest& nest) {
  ArrayUse use = idle_array(problem.workload());
  for (const NestLoop& loop : nest.loops) {
    if (loop.fanout == timing.array) {
      (loop.axis == Axis::kX ? use.x : use.y)[loop.dim] *= loop.bound;
    }
  }
  return use;
}

// log2 of the instances along an axis that cannot take what moves along it from their neighbours.
double split(const Problem& problem, const SystolicTiming& timing,
             const PerDim<std::int64_t>& along, TensorId moves) {
  const bool passes = problem.is_merged(timing.array, moves);
  double instances = 1;
  for (const DimId d : along.ids()) {
    if (!passes || problem.shape(moves).dims.contains(d)) {
      instances *= static_cast<double>(along[d]);
    }
  }
  return std::log2(instances);
}

}  // namespace

Obstacle obstacle_if_stays(const Problem& problem, const SystolicTiming& timing,
                           const ArrayUse& use, TensorId stays) {
  const auto& tensors = problem.workload().tensors;
  std::optional<TensorId> stuck;
  Obstacle least{std::numeric_limits<double>::infinity(), stays, {}};
  for (const TensorId x : tensors.ids()) {    // moves along X; what stays stands for nothing
    for (const TensorId y : tensors.ids()) {  // moves along Y
      if (x == y && x != stays) {
        continue;
      }
      double excess = 0;
      for (const TensorId t : tensors.ids()) {
        excess += t == stays ? 0
                  : t == x   ? split(problem, timing, use.x, t)
                  : t == y   ? split(problem, timing, use.y, t)
                             : kNoAxis;
      }
      least.excess = std::min(least.excess, excess);
    }
  }
  for (const TensorId t : tensors.ids()) {
    const bool neither =
        split(problem, timing, use.x, t) > 0 && split(problem, timing, use.y, t) > 0;
    least.stuck = t != stays && neither ? t : least.stuck;
  }
  return least;
}

TensorSet may_stay(const Problem& problem, const SystolicTiming& timing, const ArrayUse& use) {
  TensorSet found;
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (obstacle_if_stays(problem, timing, use, t).excess == 0) {
      found.insert(t);
    }
  }
  return found;
}

Obstacle obstacle_of(const Problem& problem, const SystolicTiming& timing, const Nest& nest) {
  const ArrayUse use = use_of(problem, timing, nest);
  const auto kept = kept_in_array(problem, timing.array, nest);
  Obstacle found{std::numeric_limits<double>::infinity(), {}, {}};
  double least = found.excess;
  for (const TensorId t : kept.ids()) {
    const Obstacle obstacle = obstacle_if_stays(problem, timing, use, t);
    least = std::min(least, obstacle.excess + (kept[t] ? 0 : 1));
    if (kept[t] && obstacle.excess < found.excess) {
      found = obstacle;
    }
  }
  found.excess = least;
  return found;
}

PerTensor<std::optional<Stationary>> stationary_candidates(const Problem& problem,
                                                           const SystolicTiming& timing,
                                                           const Nest& nest) {
  auto candidates = kept_in_array(problem, timing.array, nest);
  const TensorSet able = may_stay(problem, timing, use_of(problem, timing, nest));
  for (const TensorId t : candidates.ids()) {
    if (!able.contains(t)) {
      candidates[t].reset();
    }
  }
  return candidates;
}

bool is_padded(const Problem& problem, const SystolicTiming& timing, TensorId tensor) {
  return timing.whole_tiles && tensor != problem.workload().output() &&
         roles_in_array(problem.arch(), timing.array)
             .contains(problem.workload().tensors[tensor].role);
}

PerTensor<TilePadding> paddings(const Problem& problem, const SystolicTiming& timing,
                                const Nest& nest) {
  PerTensor<TilePadding> found;
  if (!timing.whole_tiles) {
    return found;
  }
  found.resize(problem.workload().tensors.size());
  const Fanout& array = problem.arch().fanouts[timing.array];
  const auto kept = kept_in_array(problem, timing.array, nest);
  for (const TensorId t : found.ids()) {
    if (is_padded(problem, timing, t) && kept[t]) {
      const FoldSequence folds = FoldWalk(problem, timing, nest, kept[t]).folds(0);
      // The first fold is the largest; its load is that of the whole array's rows.
      const std::int64_t whole = folds.first.load * array.x;
      found[t] = {padding_of(folds.count * whole, folds.held), padding_of(whole, folds.first.held)};
    }
  }
  return found;
}

ComputeTime systolic_time(const Problem& problem, const SystolicTiming& timing, const Nest& nest) {
  const auto time_with = [&](const std::optional<Stationary>& stays) {
    ComputeTime time = time_of(FoldWalk(problem, timing, nest, stays).folds(0));
    time.skew = time.skew - Cycles{slip(timing)};
    return time;
  };
  std::optional<ComputeTime> best;
  for (const auto& candidate : stationary_candidates(problem, timing, nest)) {
    if (!candidate) {
      continue;
    }
    ComputeTime time = time_with(candidate);
    time.stationary = candidate->tensor;
    if (!best || std::pair{time.total(), time.folds} < std::pair{best->total(), best->folds}) {
      best = time;
    }
  }
  return best ? *best : time_with(std::nullopt);
}

}  // namespace mapsim
