// SPDX-License-Identifier: Apache-2.0
#include "costmodel/crossing.hpp"

#include <algorithm>
#include <vector>

#include "costmodel/window.hpp"

namespace mapsim {

namespace {

std::size_t next_loop(const Crossing& crossing, DimId dim, std::size_t from) {
  while (from < crossing.loops.size() && crossing.loops[from].dim != dim) {
    ++from;
  }
  return from;
}

// Walks the loops of one dim from the outermost: a tile of `size` is cut into full tiles and
// perhaps a partial one. Leaves count 1 each (visits) or their size (elements).
enum class Leaf : std::uint8_t { kOne, kSize };

std::int64_t walk(const Crossing& crossing, DimId dim, std::size_t from, std::int64_t size,
                  Leaf leaf) {
  const std::size_t i = next_loop(crossing, dim, from);
  if (i == crossing.loops.size()) {
    return leaf == Leaf::kOne ? 1 : size;
  }
  const std::int64_t extent = crossing.loops[i].extent;
  const bool all = crossing.uses[i] == LoopUse::kSum ||
                   (crossing.uses[i] == LoopUse::kMerge && leaf == Leaf::kSize);
  if (crossing.uses[i] == LoopUse::kFirst) {
    size -= crossing.first(i) * extent;
  }
  if (size <= 0) {
    return 0;
  }
  if (!all || size <= extent) {
    return walk(crossing, dim, i + 1, std::min(extent, size), leaf);
  }
  const std::int64_t rest = size % extent;
  return size / extent * walk(crossing, dim, i + 1, extent, leaf) +
         (rest > 0 ? walk(crossing, dim, i + 1, rest, leaf) : 0);
}

// A situation that a dim of a window meets `times` times: the blocks held by the instances that
// share the transfer, now and (if the tile slides into it) one step before.
struct Situation {
  std::vector<Block> now;
  std::vector<Block> before;
  std::int64_t times = 1;
};

std::vector<Block> cut(const std::vector<Block>& blocks, std::int64_t index, std::int64_t extent) {
  std::vector<Block> tiles(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::int64_t offset = index * extent;
    tiles[b] = {blocks[b].lo + offset,
                std::clamp<std::int64_t>(blocks[b].size - offset, 0, extent)};
  }
  return tiles;
}

std::vector<Block> split(const std::vector<Block>& blocks, std::int64_t bound,
                         std::int64_t extent) {
  std::vector<Block> tiles;
  for (const Block& block : blocks) {
    for (std::int64_t i = 0; i < bound; ++i) {
      tiles.push_back(
          {block.lo + i * extent, std::clamp<std::int64_t>(block.size - i * extent, 0, extent)});
    }
  }
  return tiles;
}

// Lists the situations of one dim, equal ones (up to a shift) of a loop's full tiles together.
class Situations {
 public:
  Situations(const Crossing& crossing, DimId dim) : crossing_{crossing}, dim_{dim} {}

  std::vector<Situation> list(std::int64_t bound) {
    descend(0, {{{0, bound}}, {}, 1});
    return std::move(found_);
  }

 private:
  void descend(std::size_t from, Situation at) {
    if (at.now.front().size <= 0) {
      return;  // the first of the sharing instances is idle, so all are
    }
    const std::size_t i = next_loop(crossing_, dim_, from);
    if (i == crossing_.loops.size() || (crossing_.together && only_merges(i))) {
      found_.push_back(std::move(at));  // a union of all its parts is the tile itself
      return;
    }
    const NestLoop& loop = crossing_.loops[i];
    if (crossing_.uses[i] == LoopUse::kFirst) {
      const std::int64_t k = crossing_.first(i);
      descend(i + 1, {cut(at.now, k, loop.extent), cut(at.before, k, loop.extent), at.times});
    } else if (crossing_.uses[i] == LoopUse::kMerge) {
      descend(i + 1, {split(at.now, loop.bound, loop.extent),
                      split(at.before, loop.bound, loop.extent), at.times});
    } else if (i == crossing_.moving) {
      slide(i, at);
    } else {
      sum(i, at);
    }
  }

  bool only_merges(std::size_t from) const {
    for (std::size_t i = from; i < crossing_.loops.size(); ++i) {
      if (crossing_.loops[i].dim == dim_ && crossing_.uses[i] != LoopUse::kMerge) {
        return false;
      }
    }
    return true;
  }

  // Number of first indices at which every block of the situation has a full tile.
  static std::int64_t full_tiles(const std::vector<Block>& blocks, std::int64_t extent) {
    std::int64_t full = INT64_MAX;
    for (const Block& block : blocks) {
      full = std::min(full, block.size / extent);
    }
    return full;
  }

  void sum(std::size_t i, const Situation& at) {
    const std::int64_t extent = crossing_.loops[i].extent;
    const std::int64_t steps = (at.now.front().size + extent - 1) / extent;
    std::int64_t full = full_tiles(at.now, extent);
    if (!at.before.empty()) {
      full = std::min(full, full_tiles(at.before, extent));
    }
    if (full > 0) {
      descend(i + 1, {cut(at.now, 0, extent), cut(at.before, 0, extent), at.times * full});
    }
    for (std::int64_t k = full; k < steps; ++k) {
      descend(i + 1, {cut(at.now, k, extent), cut(at.before, k, extent), at.times});
    }
  }

  void slide(std::size_t i, const Situation& at) {
    const std::int64_t extent = crossing_.loops[i].extent;
    const std::int64_t steps = (at.now.front().size + extent - 1) / extent;
    const std::int64_t full = full_tiles(at.now, extent);
    descend(i + 1, {cut(at.now, 0, extent), {}, at.times});
    if (full > 1) {
      descend(i + 1, {cut(at.now, 1, extent), cut(at.now, 0, extent), at.times * (full - 1)});
    }
    for (std::int64_t k = std::max<std::int64_t>(full, 1); k < steps; ++k) {
      descend(i + 1, {cut(at.now, k, extent), cut(at.now, k - 1, extent), at.times});
    }
  }

  const Crossing& crossing_;
  DimId dim_;
  std::vector<Situation> found_;
};

// A_rank, or B_rank(j) when a dim of the rank slides.
std::int64_t window_volume(const Workload& workload, const Rank& rank, const Crossing& crossing) {
  std::vector<std::vector<Situation>> situations;
  std::size_t moving = kNoLoop;  // index in rank.terms
  for (std::size_t r = 0; r < rank.terms.size(); ++r) {
    const DimId dim = rank.terms[r].dim;
    situations.push_back(Situations(crossing, dim).list(workload.dims[dim].bound));
    if (situations.back().empty()) {
      return 0;  // the instance asked for is idle
    }
    if (crossing.moving != kNoLoop && crossing.loops[crossing.moving].dim == dim) {
      moving = r;
    }
  }
  std::int64_t total = 0;
  std::vector<std::size_t> pick(rank.terms.size(), 0);
  std::vector<StridedBlocks> dims(rank.terms.size());
  while (true) {
    std::int64_t times = 1;
    for (std::size_t r = 0; r < dims.size(); ++r) {
      const Situation& situation = situations[r][pick[r]];
      dims[r] = {rank.terms[r].coefficient, situation.now};
      times *= situation.times;
    }
    const bool slides = moving != kNoLoop && !situations[moving][pick[moving]].before.empty();
    total += times * (slides ? gained_points(dims, moving, situations[moving][pick[moving]].before,
                                             crossing.together)
                             : union_points(dims));
    std::size_t r = 0;
    while (r < dims.size() && ++pick[r] == situations[r].size()) {
      pick[r++] = 0;
    }
    if (r == dims.size()) {
      return total;
    }
  }
}

}  // namespace

std::int64_t visits(const Workload& workload, DimId dim, const Crossing& crossing) {
  return walk(crossing, dim, 0, workload.dims[dim].bound, Leaf::kOne);
}

std::int64_t volume(const Workload& workload, const Tensor& tensor, const Crossing& crossing) {
  std::int64_t product = 1;
  const DimSet relevant = tensor.dims();
  for (const DimId d : workload.dims.ids()) {
    if (!relevant.contains(d)) {
      product *= visits(workload, d, crossing);
    }
  }
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 1) {
      const DimId d = rank.terms.front().dim;
      product *= walk(crossing, d, 0, workload.dims[d].bound, Leaf::kSize);
    } else if (!rank.terms.empty()) {
      product *= window_volume(workload, rank, crossing);
    }
  }
  return product;
}

std::int64_t rank_points(const Rank& rank, const PerDim<std::int64_t>& extents) {
  std::vector<Block> blocks;
  blocks.reserve(rank.terms.size());
  std::vector<StridedBlocks> dims;
  for (const Term& term : rank.terms) {
    blocks.push_back({0, extents[term.dim]});
    dims.push_back({term.coefficient, {&blocks.back(), 1}});
  }
  return union_points(dims);
}

std::int64_t footprint(const Tensor& tensor, const PerDim<std::int64_t>& extents) {
  std::int64_t product = 1;
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 1) {
      product *= extents[rank.terms.front().dim];
    } else if (!rank.terms.empty()) {
      product *= rank_points(rank, extents);
    }
  }
  return product;
}

bool has_window(const Tensor& tensor) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(),
                     [](const Rank& rank) { return rank.terms.size() > 1; });
}

bool is_in_window(const Tensor& tensor, DimId d) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [d](const Rank& rank) {
    return rank.terms.size() > 1 && std::any_of(rank.terms.begin(), rank.terms.end(),
                                                [d](const Term& term) { return term.dim == d; });
  });
}

}  // namespace mapsim
