// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/symmetry.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace mapsim::branch {

namespace {

using Renaming = PerDim<DimId>;

constexpr std::size_t kMostRenamings = 24;  // a convolution has two
constexpr int kMostTries = 2'000;

// How a tensor uses a dim. Dims that may be exchanged agree in it.
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
  return dims[a].bound == dims[b].bound && space.domains()[a] == space.domains()[b] &&
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

// Lists the renamings of renamings_of(), the identity first.
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
      const std::size_t to = i == 0 ? dim : (i <= dim ? i - 1 : i);  // the identity first
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

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::vector<Renaming> renamings_of(const Mapspace& space) {
  std::vector<Renaming> all = Renamings(space).all();
  if (space.is_ruled() || space.problem().places_matter() || space.problem().is_timed_by_model() ||
      space.problem().sparse() != nullptr) {
    all.resize(1);
  }
  return all;
}

Symmetry::Symmetry(const Mapspace& space) : classes_{space.classes()} {
  const std::vector<Renaming> renamings = renamings_of(space);
  PerFanout<std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t>> known(
      classes_.choices().size());
  const auto key = [this](const PerDim<std::int64_t>& factors) {
    const PackedFactors packed = classes_.primes().pack(factors);
    return std::pair{packed.high, packed.low};
  };
  for (std::size_t r = 1; r < renamings.size(); ++r) {
    PerFanout<std::vector<std::uint32_t>>& images = images_.emplace_back(known.size());
    for (const FanoutId f : known.ids()) {
      const std::vector<FanoutChoice>& choices = classes_.choices()[f];
      for (std::size_t c = 0; r == 1 && c < choices.size(); ++c) {
        known[f].emplace(key(choices[c].factors), static_cast<std::uint32_t>(c));
      }
      for (const FanoutChoice& choice : choices) {
        PerDim<std::int64_t> renamed = choice.factors;
        for (const DimId d : renamed.ids()) {
          renamed[renamings[r][d]] = choice.factors[d];
        }
        const auto image = known[f].find(key(renamed));
        images[f].push_back(image != known[f].end() ? image->second : kNone);
      }
    }
  }
}

template <class Visit>
void Symmetry::for_each_image(const Tuple& tuple, const Visit& visit) const {
  for (const auto& images : images_) {
    Tuple image{};
    bool exists = true;
    for (const FanoutId f : images.ids()) {
      image.choices[index_of(f)] = images[f][tuple.choices[index_of(f)]];
      exists = exists && image.choices[index_of(f)] != kNone;
    }
    if (exists && !visit(image)) {
      return;
    }
  }
}

bool Symmetry::is_first(const Tuple& tuple) const {
  bool is_first = true;
  for_each_image(tuple, [&](const Tuple& image) {
    is_first = !classes_.comes_before(image, tuple);
    return is_first;
  });
  return is_first;
}

std::vector<Symmetry::Tuple> Symmetry::others(const Tuple& tuple) const {
  std::vector<Tuple> found;
  for_each_image(tuple, [&](const Tuple& image) {
    if (image != tuple && std::find(found.begin(), found.end(), image) == found.end()) {
      found.push_back(image);
    }
    return true;
  });
  return found;
}

namespace {

// The factor of a fanout along one dim. The axis matters only where both have a factor.
struct DimFactor {
  FanoutId fanout{};
  DimId dim{};
  std::int64_t outer = 1;
  std::int64_t inner = 1;  // imperfect factors, along both axes: those of the second one
  friend auto operator<=>(const DimFactor&, const DimFactor&) = default;
};

std::vector<DimFactor> factors_of(const UnrollingClass& unrolling_class, bool imperfect,
                                  const Renaming& renamed) {
  std::vector<DimFactor> factors;
  for (const Unroll& unroll : unrolling_class.first) {
    const DimId dim = renamed[unroll.dim];
    const auto known = std::find_if(factors.begin(), factors.end(), [&](const DimFactor& each) {
      return each.fanout == unroll.fanout && each.dim == dim;
    });
    if (known == factors.end()) {
      factors.push_back({unroll.fanout, dim, unroll.factor, 1});
    } else {
      (imperfect ? known->inner : known->outer) *= unroll.factor;
    }
  }
  std::sort(factors.begin(), factors.end());
  return factors;
}

}  // namespace

std::vector<std::size_t> symmetric_classes(const Mapspace& space) {
  const std::vector<UnrollingClass>& classes = space.unrolling_classes();
  const bool imperfect = space.constraints().factors.imperfect;
  const std::vector<Renaming> renamings = renamings_of(space);
  const bool is_told_apart =
      space.is_ruled() || space.problem().places_matter() || space.problem().is_timed_by_model();
  std::vector<std::size_t> first(classes.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  if (is_told_apart || (!imperfect && renamings.size() < 2)) {
    return first;
  }
  std::map<std::vector<DimFactor>, std::size_t> known;  // by the least of the renamed factors
  for (std::size_t g = 0; g < classes.size(); ++g) {
    std::vector<DimFactor> least = factors_of(classes[g], imperfect, renamings.front());
    for (std::size_t r = 1; r < renamings.size(); ++r) {
      least = std::min(least, factors_of(classes[g], imperfect, renamings[r]));
    }
    first[g] = known.emplace(std::move(least), g).first->second;
  }
  return first;
}

}  // namespace mapsim::branch
