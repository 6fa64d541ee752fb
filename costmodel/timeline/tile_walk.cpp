// SPDX-License-Identifier: Apache-2.0
#include "costmodel/timeline/tile_walk.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mapsim {

namespace {

std::int64_t tiles_of(std::int64_t size, std::int64_t extent) {
  return (size + extent - 1) / extent;
}

// Iterations of the loops over one dim, from loop `k` on, of the first instance.
std::int64_t iterations(const Nest& nest, DimId dim, std::size_t k, std::size_t depth,
                        std::int64_t size) {
  while (k < depth && nest.loops[k].dim != dim) {
    ++k;
  }
  if (k >= depth) {
    return 1;
  }
  const NestLoop& loop = nest.loops[k];
  if (loop.fanout) {
    return iterations(nest, dim, k + 1, depth, std::min(size, loop.extent));
  }
  const std::int64_t tiles = tiles_of(size, loop.extent);
  const std::int64_t last = size - (tiles - 1) * loop.extent;
  std::int64_t sum = iterations(nest, dim, k + 1, depth, last);
  if (tiles > 1) {
    sum += (tiles - 1) * iterations(nest, dim, k + 1, depth, loop.extent);
  }
  return sum;
}

}  // namespace

TileWalk::TileWalk(const Problem& problem, const Mapping& mapping, const PerLevel<bool>& followed)
    : problem_{problem}, nest_{make_nest(problem.workload(), mapping)} {
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (t == problem.workload().output() && !problem.shape(t).window_dims.empty()) {
      throw std::invalid_argument("the output '" + problem.workload().tensors[t].name +
                                  "' has a sliding window, whose sums no trace can follow");
    }
    const auto& places = nest_.placements[t];
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Placement& parent = places.begin()[static_cast<std::ptrdiff_t>(i)];
      TileBoundary boundary{t, parent.level, std::nullopt, parent.position, nest_.loops.size()};
      if (i + 1 < places.size()) {
        const Placement& child = places.begin()[static_cast<std::ptrdiff_t>(i + 1)];
        boundary.child = child.level;
        boundary.child_depth = child.position;
      }
      if (boundary.child || followed[boundary.parent]) {
        boundaries_.push_back(boundary);
      }
    }
  }
  std::stable_sort(
      boundaries_.begin(), boundaries_.end(),
      [](const TileBoundary& a, const TileBoundary& b) { return a.parent < b.parent; });
  for (const TileBoundary& boundary : boundaries_) {
    follow(boundary);
  }
  index_.assign(nest_.loops.size(), 0);
}

void TileWalk::follow(const TileBoundary& boundary) {
  const Tensor& tensor = problem_.workload().tensors[boundary.tensor];
  Follow follow;
  follow.is_output = boundary.tensor == problem_.workload().output();
  if (boundary.child) {
    follow.sliding = problem_.arch().levels[*boundary.child].sliding;
  } else {
    follow.forgets = !problem_.arch().compute.register_reuse.contains(tensor.role);
  }
  const DimSet relevant = tensor.dims();
  for (std::size_t k = 0; k < boundary.child_depth; ++k) {
    const NestLoop& loop = nest_.loops[k];
    if (!loop.fanout && relevant.contains(loop.dim)) {
      follow.moving = k;
    }
    if (k >= boundary.parent_depth && merges(k, boundary.tensor)) {
      follow.together = follow.together && problem_.arch().fanouts[*loop.fanout].forwarding;
    }
  }
  if (follow.forgets) {
    depth_ = nest_.loops.size();
  } else if (follow.moving) {
    depth_ = std::max(depth_, *follow.moving + 1);
  }
  follows_.push_back(follow);
}

bool TileWalk::merges(std::size_t loop, TensorId tensor) const {
  return nest_.loops[loop].fanout && problem_.is_merged(*nest_.loops[loop].fanout, tensor);
}

std::int64_t TileWalk::count(std::size_t from, std::size_t depth,
                             const PerDim<std::int64_t>& sizes) const {
  std::int64_t product = 1;
  for (const DimId d : sizes.ids()) {
    product *= iterations(nest_, d, from, depth, sizes[d]);
  }
  return product;
}

std::int64_t TileWalk::tile_steps() const {
  return count(0, depth_, bounds_of(problem_.workload()));
}

std::int64_t TileWalk::steps() const {
  return count(0, nest_.loops.size(), bounds_of(problem_.workload()));
}

std::int64_t TileWalk::inner_steps() const {
  PerDim<std::int64_t> sizes(problem_.workload().dims.size());
  const PerDim<Range> ranges = tile(depth_);
  for (const DimId d : sizes.ids()) {
    sizes[d] = ranges[d].size;
  }
  return count(depth_, nest_.loops.size(), sizes);
}

PerDim<TileWalk::Range> TileWalk::tile(std::size_t depth) const {
  PerDim<Range> ranges(problem_.workload().dims.size());
  for (const DimId d : ranges.ids()) {
    ranges[d] = {0, problem_.workload().dims[d].bound};
  }
  for (std::size_t k = 0; k < depth; ++k) {
    Range& range = ranges[nest_.loops[k].dim];
    const std::int64_t offset = index_[k] * nest_.loops[k].extent;
    range.begin += offset;
    range.size = std::min(nest_.loops[k].extent, range.size - offset);
  }
  return ranges;
}

std::int64_t TileWalk::seek(std::int64_t ordinal) {
  std::fill(index_.begin(), index_.end(), 0);
  PerDim<std::int64_t> sizes = bounds_of(problem_.workload());
  std::int64_t before = 0;
  for (std::size_t k = 0; k < depth_; ++k) {
    const NestLoop& loop = nest_.loops[k];
    const std::int64_t size = sizes[loop.dim];
    sizes[loop.dim] = std::min(size, loop.extent);
    if (loop.fanout) {
      continue;
    }
    const std::int64_t each = count(k + 1, depth_, sizes);
    index_[k] = std::min(ordinal / each, tiles_of(size, loop.extent) - 1);
    ordinal -= index_[k] * each;
    before += index_[k] * count(k + 1, nest_.loops.size(), sizes);
    sizes[loop.dim] = std::min(loop.extent, size - index_[k] * loop.extent);
  }
  exchanges_.clear();
  begun_ = true;
  for (std::size_t b = 0; b < boundaries_.size(); ++b) {
    if (follows_[b].is_output) {
      follows_[b].held = held_now(boundaries_[b]);
    }
  }
  return before;
}

bool TileWalk::advance() {
  exchanges_.clear();
  if (!begun_) {
    begun_ = true;
    exchange(std::nullopt);
    return true;
  }
  for (std::size_t k = depth_; k-- > 0;) {
    const NestLoop& loop = nest_.loops[k];
    if (loop.fanout) {
      continue;
    }
    if ((index_[k] + 1) * loop.extent < tile(k)[loop.dim].size) {
      ++index_[k];
      exchange(k);
      return true;
    }
    index_[k] = 0;
  }
  for (std::size_t b = 0; b < boundaries_.size(); ++b) {
    if (follows_[b].is_output) {
      exchanges_.push_back({b, {}, follows_[b].held});
    }
  }
  return false;
}

void TileWalk::exchange(std::optional<std::size_t> advanced) {
  for (std::size_t b = 0; b < boundaries_.size(); ++b) {
    Follow& follow = follows_[b];
    const bool whole = !advanced || follow.forgets;
    if (!whole && (!follow.moving || *advanced > *follow.moving)) {
      continue;
    }
    const bool slides = !whole && *advanced == *follow.moving && follow.sliding;
    Exchange exchange{b, entering(boundaries_[b], follow, slides), {}};
    if (follow.is_output) {
      exchange.leaves = follow.held;  // nothing at first
      follow.held = held_now(boundaries_[b]);
    }
    exchanges_.push_back(exchange);
  }
}

// A sum has been here before if a loop that does not move it has gone on.
bool TileWalk::returns(const TileBoundary& boundary) const {
  const DimSet relevant = problem_.workload().tensors[boundary.tensor].dims();
  for (std::size_t k = 0; k < boundary.child_depth; ++k) {
    if (!nest_.loops[k].fanout && !relevant.contains(nest_.loops[k].dim) && index_[k] > 0) {
      return true;
    }
  }
  return false;
}

Carried TileWalk::held_now(const TileBoundary& boundary) const {
  Follow whole;
  whole.is_output = true;
  return {points({boundary, true}, whole, false), points({boundary, false}, whole, false)};
}

Carried TileWalk::entering(const TileBoundary& boundary, const Follow& follow, bool slides) const {
  const Carried all{points({boundary, true}, follow, slides),
                    points({boundary, false}, follow, slides)};
  if (!follow.is_output || returns(boundary)) {
    return all;
  }
  // Of instances whose sums are added at the parent, the first brings what is new there.
  const DimSet relevant = problem_.workload().tensors[boundary.tensor].dims();
  std::int64_t copies = 1;
  for (const DimId d : problem_.workload().dims.ids()) {
    copies *= relevant.contains(d) ? 1 : apart({boundary, true}, d);
  }
  return {all.parent - all.parent / copies, 0};
}

// Appends the iterations of `dim` below loop `loop`: below a parallel loop between the ends of the
// boundary a range for each instance, in one group those that share.
void TileWalk::add_ranges(const End& end, DimId dim, std::size_t loop, Range range,
                          const std::vector<std::int64_t>& index, Groups& groups) const {
  while (loop < end.boundary.child_depth && nest_.loops[loop].dim != dim) {
    ++loop;
  }
  if (loop >= end.boundary.child_depth) {
    groups.back().push_back(range);
    return;
  }
  const NestLoop& here = nest_.loops[loop];
  const bool spreads = here.fanout && end.at_parent && loop >= end.boundary.parent_depth;
  const bool shares = merges(loop, end.boundary.tensor);
  const std::int64_t first = here.fanout ? 0 : index[loop];
  const std::int64_t last = spreads ? here.bound - 1 : first;
  const std::size_t outer = groups.size() - 1;
  for (std::int64_t i = first; i <= last; ++i) {
    const std::int64_t offset = std::min(i * here.extent, range.size);
    const Range part{range.begin + offset, std::min(here.extent, range.size - offset)};
    if (i > first && shares) {
      // Further in, instances that share here may be served apart: group joins group.
      Groups inner(1);
      add_ranges(end, dim, loop + 1, part, index, inner);
      for (std::size_t g = 0; g < inner.size(); ++g) {
        auto& group = groups[outer + g];
        group.insert(group.end(), inner[g].begin(), inner[g].end());
      }
      continue;
    }
    if (i > first) {
      groups.emplace_back();
    }
    add_ranges(end, dim, loop + 1, part, index, groups);
  }
}

TileWalk::Groups TileWalk::groups(const End& end, DimId dim,
                                  const std::vector<std::int64_t>& index) const {
  Groups groups(1);
  add_ranges(end, dim, 0, {0, problem_.workload().dims[dim].bound}, index, groups);
  return groups;
}

// How many groups of instances have work in a dim that does not index the tensor.
std::int64_t TileWalk::apart(const End& end, DimId dim) const {
  const Groups all = groups(end, dim, index_);
  return std::count_if(all.begin(), all.end(), [](const std::vector<Range>& group) {
    return std::any_of(group.begin(), group.end(),
                       [](const Range& range) { return range.size > 0; });
  });
}

std::int64_t TileWalk::points(const End& end, const Follow& follow, bool slides) const {
  const Tensor& tensor = problem_.workload().tensors[end.boundary.tensor];
  const DimSet relevant = tensor.dims();
  std::int64_t product = 1;
  for (const DimId d : problem_.workload().dims.ids()) {
    product *= relevant.contains(d) ? 1 : apart(end, d);
  }
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() > 1) {
      product *= window_points(end, follow, rank, slides);
      continue;
    }
    for (const Term& term : rank.terms) {  // tiles of one dim have nothing in common
      std::int64_t sum = 0;
      for (const auto& group : groups(end, term.dim, index_)) {
        for (const Range& range : group) {
          sum += range.size;
        }
      }
      product *= sum;
    }
  }
  return product;
}

namespace {

// The coordinates that the iterations of an instance touch, marked in a row of them.
void mark(const std::vector<TileWalk::Range>& ranges, const Rank& rank, std::size_t term,
          std::int64_t coordinate, char value, std::vector<char>& row) {
  if (term == ranges.size()) {
    row[static_cast<std::size_t>(coordinate)] = value;
    return;
  }
  for (std::int64_t i = 0; i < ranges[term].size; ++i) {
    mark(ranges, rank, term + 1,
         coordinate + rank.terms[term].coefficient * (ranges[term].begin + i), value, row);
  }
}

// Calls `visit` with every choice of one index below each of `sizes`.
template <class Visit>
void each_choice(const std::vector<std::size_t>& sizes, const Visit& visit) {
  std::vector<std::size_t> choice(sizes.size(), 0);
  for (std::size_t k = 0; k < sizes.size();) {
    visit(choice);
    for (k = 0; k < sizes.size() && ++choice[k] == sizes[k]; ++k) {
      choice[k] = 0;
    }
  }
}

}  // namespace

std::int64_t TileWalk::window_points(const End& end, const Follow& follow, const Rank& rank,
                                     bool slides) const {
  std::vector<Groups> next;
  std::vector<Groups> held;
  std::vector<std::size_t> counts;
  std::vector<std::int64_t> before = index_;  // of the tile that this one slides from
  if (slides) {
    --before[*follow.moving];
  }
  std::int64_t width = 1;
  bool moves = false;
  for (const Term& term : rank.terms) {
    next.push_back(groups(end, term.dim, index_));
    held.push_back(groups(end, term.dim, before));
    counts.push_back(next.back().size());
    width += term.coefficient * (problem_.workload().dims[term.dim].bound - 1);
    moves = moves || (slides && nest_.loops[*follow.moving].dim == term.dim);
  }
  std::vector<char> row(static_cast<std::size_t>(width), 0);
  std::int64_t sum = 0;
  each_choice(counts, [&](const std::vector<std::size_t>& group) {
    std::vector<std::size_t> shared;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      shared.push_back(next[k][group[k]].size());
    }
    std::fill(row.begin(), row.end(), 0);
    const auto instance = [&](const std::vector<Groups>& of, const std::vector<std::size_t>& i) {
      std::vector<Range> ranges;
      for (std::size_t k = 0; k < counts.size(); ++k) {
        ranges.push_back(of[k][group[k]][i[k]]);
      }
      return ranges;
    };
    if (!moves || follow.together) {
      each_choice(shared, [&](const auto& i) { mark(instance(next, i), rank, 0, 0, 1, row); });
      if (moves) {
        each_choice(shared, [&](const auto& i) { mark(instance(held, i), rank, 0, 0, 0, row); });
      }
    } else {
      std::vector<char> lacking(row.size(), 0);
      each_choice(shared, [&](const auto& i) {
        std::fill(lacking.begin(), lacking.end(), 0);
        mark(instance(next, i), rank, 0, 0, 1, lacking);
        mark(instance(held, i), rank, 0, 0, 0, lacking);
        for (std::size_t c = 0; c < row.size(); ++c) {
          row[c] = static_cast<char>(row[c] | lacking[c]);
        }
      });
    }
    sum += std::count(row.begin(), row.end(), 1);
  });
  return sum;
}

}  // namespace mapsim
