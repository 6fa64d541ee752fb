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

// The factor of a fanout along one dim. The axis matters only where both have a factor.
struct DimFactor {
  FanoutId fanout{};
  DimId dim{};
  std::int64_t outer = 1;
  std::int64_t inner = 1;  // imperfect factors, along both axes: those of the second one
  friend auto operator<=>(const DimFactor&, const DimFactor&) = default;
};

std::vector<DimFactor> dim_factors_of(const UnrollingClass& unrolling_class, bool imperfect) {
  std::vector<DimFactor> factors;
  for (const Unroll& unroll : unrolling_class.first) {
    const auto known = std::find_if(factors.begin(), factors.end(), [&](const DimFactor& each) {
      return each.fanout == unroll.fanout && each.dim == unroll.dim;
    });
    if (known == factors.end()) {
      factors.push_back({unroll.fanout, unroll.dim, unroll.factor, 1});
    } else if (imperfect) {
      known->inner = unroll.factor;
    } else {
      known->outer *= unroll.factor;
    }
  }
  return factors;
}

std::vector<DimFactor> rename(std::vector<DimFactor> factors, const Renaming& renamed) {
  for (DimFactor& each : factors) {
    each.dim = renamed[each.dim];
  }
  std::sort(factors.begin(), factors.end());
  return factors;
}

// A hash that does not depend on the order of the factors.
std::uint64_t hash_of(const std::vector<DimFactor>& factors, const Renaming& renamed) {
  std::uint64_t sum = 0;
  for (const DimFactor& each : factors) {
    std::uint64_t mixed = index_of(each.fanout) * kMaxDims + index_of(renamed[each.dim]) + 1;
    for (const std::int64_t factor : {each.outer, each.inner}) {
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
  std::vector<std::vector<DimFactor>> factors;
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  for (std::size_t g = 0; g < classes.size(); ++g) {
    factors.push_back(dim_factors_of(classes[g], imperfect));
    for (const Renaming& renamed : renamings) {
      const auto [begin, end] = known.equal_range(hash_of(factors[g], renamed));
      for (auto entry = begin; entry != end && first[g] == g; ++entry) {
        if (rename(factors[entry->second], renamings.front()) == rename(factors[g], renamed)) {
          first[g] = entry->second;
        }
      }
      if (first[g] != g) {
        break;
      }
    }
    if (first[g] == g) {
      known.emplace(hash_of(factors[g], renamings.front()), g);
    }
  }
  return first;
}

}  // namespace mapsim
