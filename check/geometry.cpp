// SPDX-License-Identifier: Apache-2.0
#include "check/geometry.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/factor.hpp"
#include "costmodel/crossing.hpp"

namespace mapsim::check {

namespace {

// A set of coordinates from 0 on.
using Coordinates = std::vector<char>;

// The sums of a coordinate of `set` and one of the first `count` multiples of `step`.
Coordinates spread(const Coordinates& set, std::int64_t count, std::int64_t step) {
  const auto shift = static_cast<std::size_t>(step);
  Coordinates wide(set.size() + static_cast<std::size_t>(count - 1) * shift, 0);
  for (std::size_t x = 0; x < set.size(); ++x) {
    for (std::size_t i = 0; set[x] != 0 && i < static_cast<std::size_t>(count); ++i) {
      wide[x + i * shift] = 1;
    }
  }
  return wide;
}

std::int64_t size_of(const Coordinates& set) { return std::count(set.begin(), set.end(), 1); }

// The coordinates of `set`, moved by `step`, that were not in it before.
Coordinates news(const Coordinates& set, std::int64_t step) {
  const auto shift = static_cast<std::size_t>(step);
  Coordinates moved(set.size() + shift, 0);
  for (std::size_t x = 0; x < set.size(); ++x) {
    moved[x + shift] = set[x];
  }
  for (std::size_t x = 0; x < set.size(); ++x) {
    moved[x] = set[x] != 0 ? 0 : moved[x];
  }
  return moved;
}

// Does the block of dim d at a fanout affect a count: do instances share a window along d there, or
// is there a window of sums, which instances distinguish?
bool block_matters(const Problem& problem, FanoutId fanout, DimId d) {
  const Workload& workload = problem.workload();
  for (const TensorId t : workload.tensors.ids()) {
    if (is_in_window(workload.tensors[t], d) &&
        (t == workload.output() || problem.is_merged(fanout, t))) {
      return true;
    }
  }
  return false;
}

// The chains of blocks in which each divides the one further out.
void list_blocks(const Problem& problem, std::size_t f, std::size_t dim, PerDim<std::int64_t> left,
                 BlockedUnrolling so_far, std::vector<BlockedUnrolling>& found) {
  if (f == so_far.used.size()) {
    found.push_back(std::move(so_far));
    return;
  }
  if (dim == left.size()) {
    list_blocks(problem, f + 1, 0, left, std::move(so_far), found);
    return;
  }
  const auto d = static_cast<DimId>(dim);
  if (so_far.factors[f][d] == 1 || !block_matters(problem, so_far.used[f], d)) {
    list_blocks(problem, f, dim + 1, left, std::move(so_far), found);
    return;
  }
  for (const std::int64_t block : divisors_of(left[d])) {
    BlockedUnrolling longer = so_far;
    PerDim<std::int64_t> rest = left;
    longer.blocks[f][d] = rest[d] = block;
    list_blocks(problem, f, dim + 1, rest, std::move(longer), found);
  }
}

}  // namespace

std::vector<BlockedUnrolling> list_blocked_unrollings(const Problem& problem,
                                                      const Unrolling& unrolling) {
  const SpatialFactors& factors = unrolling.factors;
  BlockedUnrolling plain;
  plain.axes = unrolling.axes;
  plain.bounds = temporal_bounds(problem.workload(), factors);
  for (const FanoutId f : factors.ids()) {
    const PerDim<std::int64_t>& along = factors[f];
    if (std::any_of(along.begin(), along.end(), [](std::int64_t n) { return n > 1; })) {
      plain.used.push_back(f);
      plain.factors.push_back(along);
      plain.blocks.emplace_back(along.size(), 0);
    }
  }
  std::vector<BlockedUnrolling> found;
  list_blocks(problem, 0, 0, plain.bounds, plain, found);
  return found;
}

std::int64_t count_coordinates(const Rank& rank, const PerDim<std::int64_t>& extents) {
  if (rank.terms.size() == 1) {
    return extents[rank.terms.front().dim];  // whatever the coefficient
  }
  Coordinates set{1};
  for (const Term& term : rank.terms) {
    set = spread(set, extents[term.dim], term.coefficient);
  }
  return size_of(set);
}

std::vector<std::uint32_t> index_tiles(const Lattice& tiles, const Rank& rank) {
  std::vector<std::uint32_t> index(tiles.size(), 0);
  for (const Term& term : rank.terms) {
    const std::size_t count = tiles.count(term.dim);
    tiles.sweep(term.dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < last; ++tile) {
        index[tile] = static_cast<std::uint32_t>(index[tile] * count + bin);
      }
    });
  }
  return index;
}

namespace {

// Calls visit(extents of the rank's dims) for each tile of the rank, in the order of index_tiles().
template <class Visit>
std::vector<double> for_each_tile(const Lattice& tiles, const Rank& rank, const Visit& visit) {
  std::vector<double> values;
  PerDim<std::int64_t> extents(tiles.dims(), 1);
  std::vector<std::size_t> digits(rank.terms.size(), 0);
  while (true) {
    for (std::size_t i = 0; i < digits.size(); ++i) {
      extents[rank.terms[i].dim] = tiles.extents(rank.terms[i].dim)[digits[i]];
    }
    values.push_back(static_cast<double>(visit(extents)));
    std::size_t i = digits.size();
    while (i > 0 && ++digits[i - 1] == tiles.extents(rank.terms[i - 1].dim).size()) {
      digits[--i] = 0;
    }
    if (i == 0) {
      return values;
    }
  }
}

// The tile of one instance.
Coordinates own_tile(const BlockedUnrolling& at, const Rank& rank, const Sharing& sharing,
                     const PerDim<std::int64_t>& extents) {
  Coordinates set{1};
  for (const Term& term : rank.terms) {
    set = spread(set, extents[term.dim] * at.split(sharing.above, term.dim), term.coefficient);
  }
  return set;
}

// The union of `set` over the instances of the merged fanouts.
Coordinates merge(const BlockedUnrolling& at, const Rank& rank, const Sharing& sharing,
                  const PerDim<std::int64_t>& extents, Coordinates set) {
  for (const Term& term : rank.terms) {
    for (std::size_t f = 0; f < sharing.above; ++f) {
      const std::int64_t factor = at.factors[f][term.dim];
      if (((sharing.merged >> f) & 1U) != 0 && factor > 1) {
        const std::int64_t block = f < sharing.crossed ? at.blocks[f][term.dim] : extents[term.dim];
        set = spread(set, factor, term.coefficient * block * at.split(f + 1, term.dim));
      }
    }
  }
  return set;
}

}  // namespace

std::vector<double> united_points(const BlockedUnrolling& at, const Lattice& tiles,
                                  const Rank& rank, const Sharing& sharing) {
  return for_each_tile(tiles, rank, [&](const PerDim<std::int64_t>& extents) {
    return size_of(merge(at, rank, sharing, extents, own_tile(at, rank, sharing, extents)));
  });
}

std::vector<double> mean_united_points(const BlockedUnrolling& at, const Lattice& tiles,
                                       const Rank& rank, const Sharing& sharing,
                                       const BranchEntry& entry) {
  if (!entry.varies()) {
    return united_points(at, tiles, rank, sharing);
  }
  return for_each_tile(tiles, rank, [&](PerDim<std::int64_t> extents) {
    const std::function<double(std::size_t)> mean = [&](std::size_t term) {
      if (term == rank.terms.size()) {
        return static_cast<double>(
            size_of(merge(at, rank, sharing, extents, own_tile(at, rank, sharing, extents))));
      }
      const DimId d = rank.terms[term].dim;
      if (!entry.varies(d) || extents[d] != tiles.bound(d)) {
        return mean(term + 1);
      }
      return entry.mean(d, tiles.bound(d), [&](std::int64_t size) {
        extents[d] = size;
        const double points = mean(term + 1);
        extents[d] = tiles.bound(d);
        return points;
      });
    };
    return mean(0);
  });
}

std::vector<double> gained_points(const BlockedUnrolling& at, const Lattice& tiles,
                                  const Rank& rank, const Sharing& sharing, std::size_t term) {
  const DimId d = rank.terms[term].dim;
  return for_each_tile(tiles, rank, [&](const PerDim<std::int64_t>& extents) {
    const std::int64_t step =
        rank.terms[term].coefficient * extents[d] * at.split(sharing.crossed, d);
    Coordinates own = own_tile(at, rank, sharing, extents);
    if (sharing.together) {
      return size_of(news(merge(at, rank, sharing, extents, std::move(own)), step));
    }
    return size_of(merge(at, rank, sharing, extents, news(own, step)));
  });
}

std::vector<double> met_points(const BlockedUnrolling& at, const Lattice& tiles, const Rank& rank,
                               std::size_t crossed, std::size_t above) {
  return for_each_tile(tiles, rank, [&](const PerDim<std::int64_t>& extents) {
    Coordinates set{1};
    for (const Term& term : rank.terms) {
      std::int64_t outer = at.bounds[term.dim];
      for (std::size_t f = 0; f < above; ++f) {
        if (at.factors[f][term.dim] > 1) {
          const std::int64_t block = f < crossed ? at.blocks[f][term.dim] : extents[term.dim];
          set = spread(set, std::max<std::int64_t>(1, outer / block),
                       term.coefficient * block * at.split(f, term.dim));
          outer = block;
        }
      }
      set = spread(set, outer * at.split(above, term.dim), term.coefficient);
    }
    return size_of(set);
  });
}

}  // namespace mapsim::check
