// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/volume.hpp"

#include <cmath>
#include <limits>

namespace mapsim::exact {

namespace {

// The loops of one dim, outermost first: temporal down to each crossed fanout's block, that fanout,
// then temporal down to the tile, with the run of a sliding loop apart, then the fanouts that follow.
class DimLoops {
 public:
  DimLoops(const Unrolled& unrolled, DimId real, DimId id, std::int64_t bound)
      : unrolled_{unrolled}, real_{real}, id_{id}, outer_{bound} {}

  void temporal(std::int64_t extent, std::size_t fanouts_below) {
    std::int64_t tile = extent;
    for (std::size_t f = fanouts_below; f < unrolled_.used.size(); ++f) {
      tile *= unrolled_.factors[f][real_];
    }
    push(tile, std::nullopt);
  }
  void parallel(std::size_t f) {
    push(outer_ / unrolled_.factors[f][real_], unrolled_.used[f]);
  }
  std::vector<NestLoop> take() { return std::move(loops_); }

 private:
  void push(std::int64_t tile, std::optional<FanoutId> fanout) {
    if (tile != outer_) {
      loops_.push_back({id_, outer_, tile, fanout, Axis::kX});
      outer_ = tile;
    }
  }

  const Unrolled& unrolled_;
  DimId real_;
  DimId id_;
  std::int64_t outer_;
  std::vector<NestLoop> loops_;
};

std::int64_t real_bound(const Unrolled& unrolled, DimId d, std::int64_t temporal_bound) {
  std::int64_t bound = temporal_bound;
  for (const auto& factors : unrolled.factors) {
    bound *= factors[d];
  }
  return bound;
}

// The rank as a one-rank tensor over its own dims.
struct RankProblem {
  Workload workload;
  Tensor tensor;
};

RankProblem isolate(const Lattice& lattice, const Unrolled& unrolled, const Rank& rank) {
  RankProblem alone;
  alone.tensor.ranks.resize(1);
  for (const Term& term : rank.terms) {
    const auto id = static_cast<DimId>(alone.workload.dims.size());
    alone.workload.dims.push_back(
        {"", real_bound(unrolled, term.dim, lattice.bound(term.dim))});
    alone.tensor.ranks[0].terms.push_back({id, term.coefficient});
  }
  return alone;
}

}  // namespace

WindowTable::WindowTable(const Lattice& lattice, const Unrolled& unrolled, const Rank& rank,
                         Sharing sharing)
    : lattice_{lattice}, unrolled_{unrolled}, rank_{rank}, sharing_{std::move(sharing)} {
  std::size_t runs = 1;
  for (const Term& term : rank_.terms) {
    tiles_ *= lattice_.divisors(term.dim).size();
    runs += lattice_.divisors(term.dim).size();
  }
  entries_.assign(tiles_ * runs, std::numeric_limits<double>::quiet_NaN());
}

std::size_t WindowTable::index(std::size_t tile, Slide slide) const {
  std::size_t index = 0;
  std::size_t run = 0;
  std::size_t first_run = 1;
  for (const Term& term : rank_.terms) {
    index = index * lattice_.divisors(term.dim).size() + lattice_.digit(term.dim, tile);
    if (!slide.none() && index_of(term.dim) == slide.dim) {
      run = first_run + slide.digit;
    }
    first_run += lattice_.divisors(term.dim).size();
  }
  return run * tiles_ + index;
}

double WindowTable::at(std::size_t tile, Slide slide) {
  double& entry = entries_[index(tile, slide)];
  if (std::isnan(entry)) {
    entry = compute(tile, slide);
  }
  return entry;
}

double WindowTable::compute(std::size_t tile, Slide slide) const {
  const RankProblem alone = isolate(lattice_, unrolled_, rank_);
  std::vector<NestLoop> loops;
  std::vector<LoopUse> uses;
  std::size_t moving = kNoLoop;
  for (std::size_t r = 0; r < rank_.terms.size(); ++r) {
    const DimId d = rank_.terms[r].dim;
    const auto id = static_cast<DimId>(r);
    const std::int64_t extent = lattice_.extent(d, tile);
    const bool slides = index_of(d) == slide.dim;
    const std::int64_t start = slides ? lattice_.divisors(d)[slide.digit] : extent;
    DimLoops dim(unrolled_, d, id, alone.workload.dims[id].bound);
    for (std::size_t f = 0; f < sharing_.crossed; ++f) {
      const std::int64_t block = unrolled_.blocks[f][d];
      if (block % start != 0) {
        return 0;  // no nest reaches this tile
      }
      if (block != 0) {  // otherwise it makes no difference where the loops stand
        dim.temporal(block, f);
      }
      dim.parallel(f);
    }
    dim.temporal(start, sharing_.crossed);
    dim.temporal(extent, sharing_.crossed);
    for (std::size_t f = sharing_.crossed; f < sharing_.uses.size(); ++f) {
      dim.parallel(f);
    }
    for (const NestLoop& loop : dim.take()) {
      // The sliding loop is the last temporal one of its dim.
      if (slides && !loop.fanout && start != extent) {
        moving = loops.size();
      }
      std::size_t f = 0;
      while (loop.fanout && unrolled_.used[f] != *loop.fanout) {
        ++f;
      }
      uses.push_back(loop.fanout ? sharing_.uses[f] : LoopUse::kSum);
      loops.push_back(loop);
    }
  }
  return static_cast<double>(
      volume(alone.workload, alone.tensor, {loops, uses, moving, sharing_.together}));
}

Volume VolumeFactory::make(TensorId tensor, const Sharing& sharing) {
  const Tensor& shape = problem_.workload().tensors[tensor];
  const DimSet relevant = shape.dims();
  Volume made;
  made.constant_ = 1;
  for (const DimId d : problem_.workload().dims.ids()) {
    for (std::size_t f = 0; f < sharing.uses.size() && !relevant.contains(d); ++f) {
      if (sharing.uses[f] == LoopUse::kSum) {
        made.constant_ *= static_cast<double>(unrolled_.factors[f][d]);
      }
    }
  }
  for (std::size_t r = 0; r < shape.ranks.size(); ++r) {
    const Rank& rank = shape.ranks[r];
    if (rank.terms.size() > 1) {
      auto& table = tables_[{index_of(tensor), r, sharing}];
      if (!table) {
        table = std::make_unique<WindowTable>(lattice_, unrolled_, rank, sharing);
      }
      made.windows_.push_back(table.get());
    } else if (rank.terms.size() == 1) {
      const DimId d = rank.terms.front().dim;
      std::int64_t points = real_bound(unrolled_, d, lattice_.bound(d));
      for (std::size_t f = 0; f < unrolled_.used.size(); ++f) {
        // The first instance's share; fanouts below the child divide nothing.
        if (f < sharing.uses.size() && sharing.uses[f] == LoopUse::kFirst) {
          points /= unrolled_.factors[f][d];
        }
      }
      made.constant_ *= static_cast<double>(points);
    }
  }
  return made;
}

double VolumeFactory::distinct(TensorId tensor, std::size_t above, LoopUse use) const {
  const Tensor& shape = problem_.workload().tensors[tensor];
  PerDim<std::int64_t> bounds(problem_.workload().dims.size());
  std::vector<NestLoop> loops;
  std::vector<LoopUse> uses;
  Workload real;
  for (const DimId d : problem_.workload().dims.ids()) {
    bounds[d] = real_bound(unrolled_, d, lattice_.bound(d));
    real.dims.push_back({"", bounds[d]});
    DimLoops dim(unrolled_, d, d, bounds[d]);
    for (std::size_t f = 0; f < above; ++f) {
      const std::int64_t inner = unrolled_.blocks[f][d];
      if (inner != 0) {
        dim.temporal(inner, f);
      }
      dim.parallel(f);
    }
    for (const NestLoop& loop : dim.take()) {
      uses.push_back(loop.fanout ? use : LoopUse::kMerge);
      loops.push_back(loop);
    }
  }
  return static_cast<double>(volume(real, shape, {loops, uses, kNoLoop, true}));
}

}  // namespace mapsim::exact
