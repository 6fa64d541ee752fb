// SPDX-License-Identifier: Apache-2.0
#include "mapper/twins.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace mapsim {

namespace {

using Renaming = PerDim<DimId>;

constexpr std::size_t kMostRenamings = 24;  // of a convolution there are two
constexpr int kMostTries = 2'000;

// What a dim is to a tensor. Dims that may change places agree in it.
std::tuple<std::int64_t, std::size_t> use_of(const Tensor& tensor, DimId dim) {
  for (const Rank& rank : tensor.ranks) {
    for (const Term& term : rank.terms) {
      if (term.dim == dim) {
        return {term.coefficient, rank.terms.size()};
      }
    }
  }
  return {0, 0};
}

bool are_alike(const Mapspace& space, DimId a, DimId b) {
  const PerTensor<Tensor>& tensors = space.problem().workload().tensors;
  const PerDim<Dim>& dims = space.problem().workload().dims;
  return dims[a].bound == dims[b].bound && space.ladders()[a] == space.ladders()[b] &&
         std::all_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& tensor) { return use_of(tensor, a) == use_of(tensor, b); });
}

std::vector<std::vector<std::size_t>> ranks_of(const Tensor& tensor, const Renaming& renamed) {
  std::vector<std::vector<std::size_t>> ranks;
  for (const Rank& rank : tensor.ranks) {
    std::vector<std::size_t>& dims = ranks.emplace_back();
    for (const Term& term : rank.terms) {
      dims.push_back(index_of(renamed[term.dim]));
    }
    std::sort(dims.begin(), dims.end());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// All ways to rename dims that leave every tensor's ranks what they are, but for their order; the
// first one renames nothing.
class Renamings {
 public:
  explicit Renamings(const Mapspace& space)
      : space_{space}, renamed_(space.problem().workload().dims.size()) {
    extend(0);
  }
  const std::vector<Renaming>& all() const { return all_; }

 private:
  void extend(std::size_t dim) {
    if (dim == renamed_.size()) {
      if (fits()) {
        all_.push_back(renamed_);
      }
      return;
    }
    for (std::size_t i = 0; i < renamed_.size(); ++i) {
      const std::size_t to = i == 0 ? dim : (i <= dim ? i - 1 : i);  // as it is: first
      if (!taken_.contains(static_cast<DimId>(to)) && all_.size() < kMostRenamings &&
          tries_++ < kMostTries &&
          are_alike(space_, static_cast<DimId>(dim), static_cast<DimId>(to))) {
        const DimSet before = taken_;
        taken_.insert(static_cast<DimId>(to));
        renamed_[static_cast<DimId>(dim)] = static_cast<DimId>(to);
        extend(dim + 1);
        taken_ = before;
      }
    }
  }
  bool fits() const {
    Renaming same(renamed_.size());
    for (const DimId d : same.ids()) {
      same[d] = d;
    }
    const PerTensor<Tensor>& tensors = space_.problem().workload().tensors;
    return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
      return ranks_of(tensor, renamed_) == ranks_of(tensor, same);
    });
  }

  const Mapspace& space_;
  Renaming renamed_;
  DimSet taken_;
  int tries_ = 0;
  std::vector<Renaming> all_;
};

// Instances of a fanout along one dim. Which axis has them says nothing, unless both have some.
struct Side {
  FanoutId fanout{};
  DimId dim{};
  std::int64_t outer = 1;
  std::int64_t inner = 1;  // balanced, along both axes: of the second one
  friend auto operator<=>(const Side&, const Side&) = default;
};

std::vector<Side> sides_of(const UnrollingGroup& group, bool balanced) {
  std::vector<Side> sides;
  for (const Unroll& unroll : group.first) {
    const auto known = std::find_if(sides.begin(), sides.end(), [&](const Side& side) {
      return side.fanout == unroll.fanout && side.dim == unroll.dim;
    });
    if (known == sides.end()) {
      sides.push_back({unroll.fanout, unroll.dim, unroll.factor, 1});
    } else if (balanced) {
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

std::vector<std::size_t> twins(const Mapspace& space) {
  const std::vector<UnrollingGroup>& groups = space.group_by_factors();
  std::vector<std::size_t> first(groups.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  if (space.is_ruled() || space.problem().places_matter() || space.problem().is_timed_by_model()) {
    return first;
  }
  const bool balanced = space.constraints().factors.balanced;
  const Renamings renamings(space);
  if (!balanced && renamings.all().size() < 2) {
    return first;
  }
  std::vector<std::vector<Side>> sides;
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    sides.push_back(sides_of(groups[g], balanced));
    for (const Renaming& renamed : renamings.all()) {
      const auto [begin, end] = known.equal_range(hash_of(sides[g], renamed));
      for (auto entry = begin; entry != end && first[g] == g; ++entry) {
        if (rename(sides[entry->second], renamings.all().front()) == rename(sides[g], renamed)) {
          first[g] = entry->second;
        }
      }
      if (first[g] != g) {
        break;
      }
    }
    if (first[g] == g) {
      known.emplace(hash_of(sides[g], renamings.all().front()), g);
    }
  }
  return first;
}

}  // namespace mapsim
