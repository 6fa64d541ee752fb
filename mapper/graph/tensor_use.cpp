// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/tensor_use.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/arithmetic.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::exact {

namespace {

// p and r have the coordinate a p + b r. With g = gcd(a, b), other indices with the same coordinate
// differ in p by multiples of b/g and in r by multiples of a/g. With more than two dims all but one
// are free.
double ways_to_meet(const Workload& workload, const Rank& rank) {
  const auto bound = [&](std::size_t i) { return workload.dims[rank.terms[i].dim].bound; };
  if (rank.terms.size() == 2) {
    const std::int64_t a = rank.terms[0].coefficient;
    const std::int64_t b = rank.terms[1].coefficient;
    const std::int64_t g = std::gcd(a, b);
    return real(std::min(ceil_div(bound(0), b / g), ceil_div(bound(1), a / g)));
  }
  double indices = 1;
  double longest = 1;
  for (std::size_t i = 0; i < rank.terms.size(); ++i) {
    indices *= real(bound(i));
    longest = std::max(longest, real(bound(i)));
  }
  return indices / longest;
}

std::int64_t common_divisor(const Rank& rank) {
  std::int64_t divisor = 0;
  for (const Term& term : rank.terms) {
    divisor = std::gcd(divisor, term.coefficient);
  }
  return divisor;
}

double least_factor(std::int64_t bound) {
  for (std::int64_t factor = 2; factor * factor <= bound; ++factor) {
    if (bound % factor == 0) {
      return real(factor);
    }
  }
  return real(bound);
}

}  // namespace

TensorUse use_of(const Workload& workload, const Tensor& tensor) {
  TensorUse use;
  use.dims = tensor.dims();
  use.elements = real(footprint(tensor, bounds_of(workload)));
  for (const Rank& rank : tensor.ranks) {
    TensorUse::OfRank& of_rank = use.ranks.emplace_back();
    of_rank.ways = ways_to_meet(workload, rank);
    use.slides = use.slides || rank.terms.size() > 1;
    const std::int64_t divisor = common_divisor(rank);
    for (const Term& term : rank.terms) {
      of_rank.dims.push_back(
          {term.dim, term.coefficient / divisor, least_factor(workload.dims[term.dim].bound)});
      use.strides = use.strides || (rank.terms.size() == 2 && of_rank.dims.back().step > 1);
      if (rank.terms.size() == 1) {
        use.determined.insert(term.dim);
      }
    }
  }
  return use;
}

bool meet_once(const Workload& workload, const TensorUse& one, const TensorUse& other) {
  if (one.slides && other.slides) {
    return false;
  }
  // The index of each of its dims follows from its element
  const TensorUse& whole = one.slides ? other : one;
  const TensorUse& window = one.slides ? one : other;
  for (const TensorUse::OfRank& rank : window.ranks) {
    const auto open = std::count_if(rank.dims.begin(), rank.dims.end(), [&](const auto& of) {
      return !whole.dims.contains(of.dim) && workload.dims[of.dim].bound > 1;
    });
    if (open > 1) {
      return false;
    }
  }
  const DimSet both = whole.dims | window.dims;
  bool all = true;
  for (const DimId d : workload.dims.ids()) {
    all = all && (both.contains(d) || workload.dims[d].bound == 1);
  }
  return all;
}

namespace {

// How many of these indices can use one coordinate of the rank.
double sharing_instances(const TensorUse::OfRank& rank, const Extents& indices) {
  double blocks = 1;
  for (const TensorUse::OfDim& of : rank.dims) {
    blocks *= indices[of.dim];
  }
  return std::min(blocks, rank.ways);
}

// How many indices a tile needs along one dim before instances along the other dim share anything;
// 1: it always has enough.
double needed(const TensorUse::OfRank& rank, const Extents& instances, const Extents& all,
              bool imperfect) {
  if (rank.dims.size() != 2) {
    return 1;
  }
  const bool first = instances[rank.dims[0].dim] > 1;
  const TensorUse::OfDim& apart = rank.dims[first ? 0 : 1];
  const TensorUse::OfDim& within = rank.dims[first ? 1 : 0];
  if (all[within.dim] > 1 || apart.step < 2) {
    return 1;
  }
  return imperfect ? 2 : within.least_factor;
}

// The maximum over whether each rank from this one on shares.
double most_of_ranks(const TensorUse& use, const Extents& instances, const Extents& all,
                     double capacity, bool imperfect, std::size_t rank) {
  if (rank == use.ranks.size()) {
    return 1;
  }
  const double need = needed(use.ranks[rank], instances, all, imperfect);
  double most = need > 1 ? most_of_ranks(use, instances, all, capacity, imperfect, rank + 1) : 0;
  if (need <= capacity) {
    most = std::max(most,
                    sharing_instances(use.ranks[rank], instances) *
                        most_of_ranks(use, instances, all, capacity / need, imperfect, rank + 1));
  }
  return most;
}

double along_other_dims(const TensorUse& use, const Extents& indices) {
  double others = 1;
  for (const DimId d : indices.ids()) {
    others *= use.dims.contains(d) ? 1 : indices[d];
  }
  return others;
}

}  // namespace

double most_shared(const TensorUse& use, const Extents& instances) {
  double shared = along_other_dims(use, instances);
  for (const TensorUse::OfRank& rank : use.ranks) {
    double coordinates = 1;
    double blocks = 1;
    for (const TensorUse::OfDim& of : rank.dims) {
      coordinates += instances[of.dim] - 1;
      blocks *= instances[of.dim];
    }
    shared *= std::min(blocks / coordinates, rank.ways);
  }
  return shared;
}

double most_operations(const TensorUse& use, const Extents& indices) {
  double operations = along_other_dims(use, indices);
  for (const TensorUse::OfRank& rank : use.ranks) {
    operations *= sharing_instances(rank, indices);
  }
  return operations;
}

double most_served(const TensorUse& use, const Extents& instances, const Extents& all,
                   double capacity, bool imperfect) {
  return along_other_dims(use, instances) *
         most_of_ranks(use, instances, all, std::max(1.0, capacity), imperfect, 0);
}

}  // namespace mapsim::exact
