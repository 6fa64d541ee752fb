// SPDX-License-Identifier: Apache-2.0
#include "costmodel/timing/systolic.hpp"

#include <algorithm>
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
  const std::int64_t shown = timing.hides_load ? std::max<std::int64_t>(b.load - busy, 0) : b.load;
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
      const std::int64_t whole = size / loop.extent;
      if (whole > 0) {
        found = repeat(timing_, folds(i + 1), whole);
      }
      if (const std::int64_t rest = size % loop.extent; rest > 0) {
        sizes_[loop.dim] = rest;
        const FoldSequence last = folds(i + 1);
        found = whole > 0 ? join(timing_, found, last) : last;
      }
    }
    rows_ = before_rows;
    columns_ = before_columns;
    sizes_[loop.dim] = size;
    return found;
  }

 private:
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
    rows_ = used_rows;
    columns_ = used_columns;
    const bool sums = stationary_ && stationary_->tensor == problem_.workload().output();
    return make_fold(cycles, rows, columns, points, sums);
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
};

}  // namespace

Fold make_fold(std::int64_t steps, std::int64_t rows, std::int64_t columns, std::int64_t points,
               bool sums) {
  Fold fold{steps, 0, 0, rows + columns - 2};
  if (sums) {
    fold.drain = rows * points;
    fold.skew += fold.drain - rows;
  } else {
    fold.load = rows * points;
  }
  return fold;
}

FoldSequence sequence_of(const Fold& fold) { return {fold, fold, 1, 0, fold.steps, fold.load, 0}; }

FoldSequence join(const SystolicTiming& timing, const FoldSequence& a, const FoldSequence& b) {
  const Gap between = gap(timing, a.last, b.first);
  return {a.first,
          b.last,
          a.count + b.count,
          a.interval + between.interval + b.interval,
          a.steps + b.steps,
          a.load + b.load,
          a.shown_load + between.shown_load + b.shown_load};
}

FoldSequence repeat(const SystolicTiming& timing, const FoldSequence& a, std::int64_t times) {
  const Gap between = gap(timing, a.last, a.first);
  return {a.first,
          a.last,
          times * a.count,
          times * a.interval + (times - 1) * between.interval,
          times * a.steps,
          times * a.load,
          times * a.shown_load + (times - 1) * between.shown_load};
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

PerTensor<std::optional<Stationary>> stationary_candidates(const Problem& problem,
                                                           const SystolicTiming& timing,
                                                           const Nest& nest) {
  PerTensor<std::optional<Stationary>> candidates;
  candidates.resize(problem.workload().tensors.size());
  const auto offer = [&](TensorId t, std::size_t position) {
    const DimSet relevant = problem.shape(t).dims;
    Stationary found{t, position, 0};
    for (std::size_t i = 0; i < position; ++i) {
      if (!nest.loops[i].fanout && relevant.contains(nest.loops[i].dim)) {
        found.folded = i + 1;
      }
    }
    candidates[t] = found;
  };
  const std::size_t above = problem.arch().levels_above[timing.array];
  for (const TensorId t : candidates.ids()) {
    for (const Placement& place : nest.placements[t]) {
      if (!candidates[t] && index_of(place.level) >= above) {
        offer(t, place.position);
      }
    }
    if (!candidates[t] &&
        problem.arch().compute.register_reuse.contains(problem.workload().tensors[t].role)) {
      offer(t, nest.loops.size());
    }
  }
  return candidates;
}

ComputeTime systolic_time(const Problem& problem, const SystolicTiming& timing, const Nest& nest) {
  std::optional<ComputeTime> best;
  for (const auto& candidate : stationary_candidates(problem, timing, nest)) {
    if (!candidate) {
      continue;
    }
    ComputeTime time = time_of(FoldWalk(problem, timing, nest, candidate).folds(0));
    time.stationary = candidate->tensor;
    if (!best || std::pair{time.total(), time.folds} < std::pair{best->total(), best->folds}) {
      best = time;
    }
  }
  return best ? *best : time_of(FoldWalk(problem, timing, nest, std::nullopt).folds(0));
}

}  // namespace mapsim
