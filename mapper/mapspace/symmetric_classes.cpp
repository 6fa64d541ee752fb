// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/symmetric_classes.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "mapper/mapspace/symmetry.hpp"

namespace mapsim {

namespace {

using Renaming = PerDim<DimId>;

// Instances of a fanout along one dim. Which axis has them says nothing, unless both have some.
struct Side {
  FanoutId fanout{};
  DimId dim{};
  std::int64_t outer = 1;
  std::int64_t inner = 1;  // imperfect, along both axes: of the second one
  friend auto operator<=>(const Side&, const Side&) = default;
};

std::vector<Side> sides_of(const UnrollingClass& unrolling_class, bool imperfect) {
  std::vector<Side> sides;
  for (const Unroll& unroll : unrolling_class.first) {
    const auto known = std::find_if(sides.begin(), sides.end(), [&](const Side& side) {
      return side.fanout == unroll.fanout && side.dim == unroll.dim;
    });
    if (known == sides.end()) {
      sides.push_back({unroll.fanout, unroll.dim, unroll.factor, 1});
    } else if (imperfect) {
      known->inner = unroll.factor;
    } else {
      known->outer *= unroll.factor;
    }
  }
  return sides;
}

std::vector<Side> rename(std::vector<Side> sides, const Renaming& renamed) {
  for (Side& side : sides) {
    side.dim = renamed[side.dim];
  }
  std::sort(sides.begin(), sides.end());
  return sides;
}

// The same for all orders of the sides.
std::uint64_t hash_of(const std::vector<Side>& sides, const Renaming& renamed) {
  std::uint64_t sum = 0;
  for (const Side& side : sides) {
    std::uint64_t mixed = index_of(side.fanout) * kMaxDims + index_of(renamed[side.dim]) + 1;
    for (const std::int64_t factor : {side.outer, side.inner}) {
      mixed = (mixed ^ static_cast<std::uint64_t>(factor)) * 0x9E3779B97F4A7C15U;  // golden ratio
      mixed ^= mixed >> 29;
    }
    sum += mixed;
  }
  return sum;
}

}  // namespace

std::vector<std::size_t> symmetric_classes(const Mapspace& space) {
  const std::vector<UnrollingClass>& classes = space.unrolling_classes();
  std::vector<std::size_t> first(classes.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  if (space.is_ruled() || space.problem().places_matter() || space.problem().is_timed_by_model()) {
    return first;
  }
  const bool imperfect = space.constraints().factors.imperfect;
  const std::vector<Renaming> renamings = branch::renamings_of(space);
  if (!imperfect && renamings.size() < 2) {
    return first;
  }
  std::vector<std::vector<Side>> sides;
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  for (std::size_t g = 0; g < classes.size(); ++g) {
    sides.push_back(sides_of(classes[g], imperfect));
    for (const Renaming& renamed : renamings) {
      const auto [begin, end] = known.equal_range(hash_of(sides[g], renamed));
      for (auto entry = begin; entry != end && first[g] == g; ++entry) {
        if (rename(sides[entry->second], renamings.front()) == rename(sides[g], renamed)) {
          first[g] = entry->second;
        }
      }
      if (first[g] != g) {
        break;
      }
    }
    if (first[g] == g) {
      known.emplace(hash_of(sides[g], renamings.front()), g);
    }
  }
  return first;
}

}  // namespace mapsim
