// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/volume.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/factor.hpp"

namespace mapsim::exact {

std::vector<DimId> moving_dims(const Workload& workload, const Rank& rank) {
  std::vector<DimId> dims;
  for (const Term& term : rank.terms) {
    if (workload.dims[term.dim].bound > 1) {
      dims.push_back(term.dim);
    }
  }
  return dims;
}

bool slides_along(const Workload& workload, const Tensor& tensor, DimId d) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [&](const Rank& rank) {
    const std::vector<DimId> dims = moving_dims(workload, rank);
    return dims.size() > 1 && std::find(dims.begin(), dims.end(), d) != dims.end();
  });
}

namespace {

DimSet window_dims(const Workload& workload) {
  DimSet windows;
  for (const DimId d : workload.dims.ids()) {
    for (const Tensor& tensor : workload.tensors) {
      if (slides_along(workload, tensor, d)) {
        windows.insert(d);
      }
    }
  }
  return windows;
}

// Does the block of dim d at a fanout affect a count? It does if a union of instances slides along
// d, or if sums of a window of the output are distinguished by instance.
bool block_matters(const Problem& problem, FanoutId fanout, DimId d) {
  for (const TensorId t : problem.workload().tensors.ids()) {
    const bool output = t == problem.workload().output();
    if (slides_along(problem.workload(), problem.workload().tensors[t], d) &&
        (output || problem.is_merged(fanout, t))) {
      return true;
    }
  }
  return false;
}

std::int64_t real_bound(const Unrolled& unrolled, DimId d) {
  std::int64_t bound = unrolled.bound(d);
  for (const auto& factors : unrolled.factors) {
    bound *= factors[d];
  }
  return bound;
}

// Adds the loops of one dim as a nest has them, outermost first. Tiles above fanouts that are not
// crossed yet are larger by those fanouts' factors.
class DimLoops {
 public:
  // `size`: of the dim, which is its bound unless sizes differ between entries.
  DimLoops(const Unrolled& unrolled, DimId real, DimId id, std::int64_t size,
           std::vector<NestLoop>& loops)
      : unrolled_{unrolled}, real_{real}, id_{id}, outer_{size}, loops_{loops} {}

  void temporal(std::int64_t extent, std::size_t fanouts_below) {
    if (unrolled_.entry.varies(real_) && extent == unrolled_.bound(real_)) {
      return;  // whatever its size, the dim has not been cut yet
    }
    std::int64_t tile = extent;
    for (std::size_t f = fanouts_below; f < unrolled_.used.size(); ++f) {
      tile *= unrolled_.factors[f][real_];
    }
    push(tile, std::nullopt);
  }
  void parallel(std::size_t f) { push(outer_ / unrolled_.factors[f][real_], unrolled_.used[f]); }

 private:
  void push(std::int64_t tile, std::optional<FanoutId> fanout) {
    if (tile != outer_) {
      loops_.push_back({id_, outer_, tile, fanout, Axis::kX, kNoLoop, outer_ / tile});
      outer_ = tile;
    }
  }

  const Unrolled& unrolled_;
  DimId real_;
  DimId id_;
  std::int64_t outer_;
  std::vector<NestLoop>& loops_;
};

}  // namespace

namespace {

using Domains = PerDim<std::vector<std::int64_t>>;

// Chains bound >= block >= ... >= extent over a domain, each dividing the one before.
double count_positions(const std::vector<std::int64_t>& domain, std::size_t tracked) {
  std::vector<double> below(domain.size(), 1.0);  // by the extent that a chain begins with
  for (std::size_t level = 0; level < tracked; ++level) {
    std::vector<double> longer(domain.size(), 0.0);
    for (std::size_t from = 0; from < domain.size(); ++from) {
      for (std::size_t to = 0; to <= from; ++to) {
        longer[from] += domain[from] % domain[to] == 0 ? below[to] : 0;
      }
    }
    below = std::move(longer);
  }
  return std::accumulate(below.begin(), below.end(), 0.0);
}

double count_tiles(const Domains& domains, const PerDim<std::size_t>& tracked) {
  double tiles = 1;
  for (const DimId d : domains.ids()) {
    tiles *= count_positions(domains[d], tracked[d]);
  }
  return tiles;
}

// Removes the extent with the closest neighbours from the longest domain, until the lattice is
// small enough. 1 and the bound stay.
void thin_out(Domains& domains, const PerDim<std::size_t>& tracked, std::size_t most_tiles) {
  while (count_tiles(domains, tracked) > static_cast<double>(most_tiles)) {
    const auto longest =
        std::max_element(domains.begin(), domains.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (longest->size() <= 2) {
      return;
    }
    const auto spread = [&](std::size_t i) {
      return static_cast<double>((*longest)[i + 1]) / static_cast<double>((*longest)[i - 1]);
    };
    std::size_t closest = 1;
    for (std::size_t i = 2; i + 1 < longest->size(); ++i) {
      closest = spread(i) < spread(closest) ? i : closest;
    }
    longest->erase(longest->begin() + static_cast<std::ptrdiff_t>(closest));
  }
}

}  // namespace

Unrolled::Unrolled(const Problem& problem, const UnrollingClass& unrolling_class,
                   const BranchEntry& entry_in, std::size_t most_tiles, const Deadline* deadline)
    : windows{window_dims(problem.workload())},
      held{std::make_shared<HeldMemory>(deadline)},
      unrolling{unrolling_class.first},
      entry{entry_in} {
  PerDim<std::int64_t> bounds(problem.workload().dims.size());
  for (const DimId d : bounds.ids()) {
    bounds[d] = problem.workload().dims[d].bound;
  }
  for (const FanoutId f : unrolling_class.factors.ids()) {
    const PerDim<std::int64_t>& along = unrolling_class.factors[f];
    if (std::all_of(along.begin(), along.end(), [](std::int64_t n) { return n == 1; })) {
      continue;
    }
    used.push_back(f);
    factors.push_back(along);
    tracks.emplace_back(along.size(), false);
    for (const DimId d : along.ids()) {
      bounds[d] /= along[d];
      tracks.back()[d] = along[d] > 1 && block_matters(problem, f, d);
    }
  }
  Domains domains;
  PerDim<std::size_t> tracked(bounds.size(), 0);
  for (const DimId d : bounds.ids()) {
    domains.push_back(entry.extents(d, bounds[d]));
    for (const PerDim<bool>& of_fanout : tracks) {
      tracked[d] += of_fanout[d] ? 1 : 0;
    }
  }
  thin_out(domains, tracked, most_tiles);
  tracked = PerDim<std::size_t>(bounds.size(), 0);
  lattices.emplace_back(bounds, tracked, windows, domains).watch(deadline);
  for (std::size_t f = 0; f < used.size(); ++f) {
    for (const DimId d : bounds.ids()) {
      tracked[d] += tracks[f][d] ? 1 : 0;
    }
    lattices.emplace_back(bounds, tracked, windows, domains).watch(deadline);
    held->take(lattices[f].size() * sizeof(std::size_t));
    crossings.push_back(lattices[f].crossing(lattices[f + 1]));
  }
}

WindowTable::WindowTable(const Unrolled& unrolled, const Rank& rank, Sharing sharing,
                         const std::vector<std::uint32_t>& tile_of_rank)
    : unrolled_{unrolled},
      lattice_{unrolled.lattices[sharing.crossed]},
      rank_{rank},
      sharing_{std::move(sharing)},
      tile_of_rank_{tile_of_rank},
      first_loop_(lattice_.dims(), 0) {
  std::size_t loops = 1;
  alone_tensor_.ranks.resize(1);
  for (const Term& term : rank_.terms) {
    tiles_ *= lattice_.positions(term.dim).size();
    first_loop_[index_of(term.dim)] = loops;
    loops += lattice_.positions(term.dim).size();
    const auto id = static_cast<DimId>(alone_.dims.size());
    alone_.dims.push_back({"", real_bound(unrolled_, term.dim)});
    alone_tensor_.ranks[0].terms.push_back({id, term.coefficient});
  }
  entries_.assign(tiles_ * loops, -1.0);
}

// The mean over entries, whose dims of the rank may differ in size.
double WindowTable::compute(std::size_t tile, SlidingLoop slide) {
  double sum = 0;
  double entries = 0;
  std::vector<std::size_t> pick(rank_.terms.size(), 0);
  std::size_t i = 0;
  do {
    double times = 1;
    for (i = 0; i < rank_.terms.size(); ++i) {
      if (const DimId d = rank_.terms[i].dim; unrolled_.entry.varies(d)) {
        const BoxLength& length = unrolled_.entry.lengths[d][pick[i]];
        alone_.dims[static_cast<DimId>(i)].bound = length.size;
        times *= static_cast<double>(length.times);
      }
    }
    sum += times * count(tile, slide);
    entries += times;
    for (i = 0; i < pick.size(); ++i) {
      const DimId d = rank_.terms[i].dim;
      if (unrolled_.entry.varies(d) && ++pick[i] < unrolled_.entry.lengths[d].size()) {
        break;
      }
      pick[i] = 0;
    }
  } while (i < pick.size());
  return sum / entries;
}

double WindowTable::count(std::size_t tile, SlidingLoop slide) const {
  std::vector<NestLoop> loops;
  loops.reserve(rank_.terms.size() * (2 * sharing_.uses.size() + 2));
  std::size_t moving = kNoLoop;
  for (std::size_t i = 0; i < rank_.terms.size(); ++i) {
    const DimId d = rank_.terms[i].dim;
    const Position& position = lattice_.positions(d)[lattice_.digit(d, tile)];
    const bool slides = index_of(d) == slide.dim;
    const auto id = static_cast<DimId>(i);
    DimLoops dim(unrolled_, d, id, alone_.dims[id].bound, loops);
    for (std::size_t f = 0, block = 0; f < sharing_.crossed; ++f) {
      if (unrolled_.tracks[f][d]) {  // otherwise it makes no difference where the loops stand
        dim.temporal(position.blocks[block++], f);
      }
      dim.parallel(f);
    }
    if (slides) {
      dim.temporal(lattice_.positions(d)[slide.from].extent, sharing_.crossed);
    }
    const std::size_t before_run = loops.size();
    dim.temporal(position.extent, sharing_.crossed);
    if (slides && loops.size() > before_run) {
      moving = before_run;
    }
    for (std::size_t f = sharing_.crossed; f < sharing_.uses.size(); ++f) {
      dim.parallel(f);
    }
  }
  std::vector<LoopUse> uses;
  uses.reserve(loops.size());
  for (const NestLoop& loop : loops) {
    const auto f = static_cast<std::size_t>(
        loop.fanout ? std::find(unrolled_.used.begin(), unrolled_.used.end(), *loop.fanout) -
                          unrolled_.used.begin()
                    : 0);
    uses.push_back(loop.fanout ? sharing_.uses[f] : sharing_.temporal);
  }
  return static_cast<double>(
      volume(alone_, alone_tensor_, {loops, uses, moving, sharing_.together}));
}

std::vector<std::uint32_t> index_rank(const DivisorLattice& lattice, const Rank& rank) {
  auto index = lattice.filled(std::uint32_t{0});
  for (const Term& term : rank.terms) {
    const auto radix = static_cast<std::uint32_t>(lattice.positions(term.dim).size());
    lattice.sweep(term.dim, [&](std::size_t digit, std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < last; ++tile) {
        index[tile] = index[tile] * radix + static_cast<std::uint32_t>(digit);
      }
    });
  }
  return index;
}

const std::vector<std::uint32_t>& VolumeFactory::tiles_of_rank(TensorId tensor, std::size_t rank,
                                                               std::size_t crossed) {
  auto& index = tiles_of_rank_[{index_of(tensor), rank, crossed}];
  if (!index) {
    unrolled_.held->take(unrolled_.lattices[crossed].size() * sizeof(std::uint32_t));
    index = std::make_unique<std::vector<std::uint32_t>>(
        index_rank(unrolled_.lattices[crossed], problem_.workload().tensors[tensor].ranks[rank]));
  }
  return *index;
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
    const std::vector<DimId> dims = moving_dims(problem_.workload(), rank);
    if (dims.size() > 1) {
      auto& table = tables_[{index_of(tensor), r, sharing}];
      if (!table) {
        table = std::make_unique<WindowTable>(unrolled_, rank, sharing,
                                              tiles_of_rank(tensor, r, sharing.crossed));
      }
      made.windows_.push_back(table.get());
    } else if (dims.size() == 1) {
      const DimId d = dims.front();
      double points = unrolled_.entry.mean_size(d, real_bound(unrolled_, d));
      for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
        if (sharing.uses[f] == LoopUse::kFirst) {
          points /= static_cast<double>(unrolled_.factors[f][d]);
        }
      }
      made.constant_ *= points;
    }
  }
  return made;
}

}  // namespace mapsim::exact
