// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/tensor_use.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/arithmetic.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::exact {

namespace {

// Of a p + b r, g their greatest common divisor, p can only go on by b/g, and r back by a/g. Of
// more dims all but one are free.
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

}  // namespace

TensorUse use_of(const Workload& workload, const Tensor& tensor) {
  TensorUse use;
  use.dims = tensor.dims();
  use.elements = real(footprint(tensor, bounds_of(workload)));
  for (const Rank& rank : tensor.ranks) {
    TensorUse::OfRank& of_rank = use.ranks.emplace_back();
    of_rank.ways = ways_to_meet(workload, rank);
    use.slides = use.slides || rank.terms.size() > 1;
    for (const Term& term : rank.terms) {
      of_rank.dims.push_back(term.dim);
      if (rank.terms.size() == 1) {
        use.told.insert(term.dim);
      }
    }
  }
  return use;
}

bool meet_once(const Workload& workload, const TensorUse& one, const TensorUse& other) {
  if (one.slides && other.slides) {
    return false;
  }
  const TensorUse& whole = one.slides ? other : one;  // its elements tell all of its dims
  const TensorUse& window = one.slides ? one : other;
  for (const TensorUse::OfRank& rank : window.ranks) {
    const auto open = std::count_if(rank.dims.begin(), rank.dims.end(), [&](DimId d) {
      return !whole.dims.contains(d) && workload.dims[d].bound > 1;
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

double most_shared(const TensorUse& use, const Extents& instances) {
  double shared = 1;
  for (const DimId d : instances.ids()) {
    shared *= use.dims.contains(d) ? 1 : instances[d];
  }
  for (const TensorUse::OfRank& rank : use.ranks) {
    double coordinates = 1;
    double blocks = 1;
    for (const DimId d : rank.dims) {
      coordinates += instances[d] - 1;
      blocks *= instances[d];
    }
    shared *= std::min(blocks / coordinates, rank.ways);
  }
  return shared;
}

double most_served(const TensorUse& use, const Extents& indices) {
  double served = 1;
  for (const DimId d : indices.ids()) {
    served *= use.dims.contains(d) ? 1 : indices[d];
  }
  for (const TensorUse::OfRank& rank : use.ranks) {
    double blocks = 1;
    for (const DimId d : rank.dims) {
      blocks *= indices[d];
    }
    served *= std::min(blocks, rank.ways);
  }
  return served;
}

}  // namespace mapsim::exact
