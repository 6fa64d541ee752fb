// SPDX-License-Identifier: Apache-2.0
#include "costmodel/timing/array.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace mapsim {

ArrayUse idle_array(const Workload& workload) {
  const PerDim<std::int64_t> ones(workload.dims.size(), 1);
  return {ones, ones};
}

ArraySize size_of(const ArrayUse& use) {
  const auto product = [](const PerDim<std::int64_t>& along) {
    return std::accumulate(along.begin(), along.end(), std::int64_t{1}, std::multiplies<>());
  };
  return {product(use.y), product(use.x)};
}

Padding padding_of(std::int64_t whole, std::int64_t used) {
  const std::int64_t common = std::gcd(whole, used);
  return {whole / common, used / common};
}

PerTensor<std::optional<Stationary>> kept_in_array(const Problem& problem, FanoutId array,
                                                   const Nest& nest) {
  PerTensor<std::optional<Stationary>> candidates;
  candidates.resize(problem.workload().tensors.size());
  const auto offer = [&](TensorId t, std::size_t position) {
    const DimSet relevant = problem.shape(t).dims;
    Stationary found{t, position, 0};
    for (std::size_t i = 0; i < position; ++i) {
      if (!nest.loops[i].fanout && relevant.contains(nest.loops[i].dim)) {
        found.folded = i + 1;
      }
    }
    candidates[t] = found;
  };
  const std::size_t above = problem.arch().levels_above[array];
  for (const TensorId t : candidates.ids()) {
    for (const Placement& place : nest.placements[t]) {
      if (!candidates[t] && index_of(place.level) >= above) {
        offer(t, place.position);
      }
    }
    if (!candidates[t] &&
        problem.arch().compute.register_reuse.contains(problem.workload().tensors[t].role)) {
      offer(t, nest.loops.size());
    }
  }
  return candidates;
}

namespace {

// The most elements of a tensor that one instance of the array holds; infinite without a limit.
// Sums that are added up in it are partial, unless fanouts further in add them.
double most_elements(const Problem& problem, FanoutId array, TensorId t) {
  const Tensor& tensor = problem.workload().tensors[t];
  DimSet reduced;
  for (const DimId d : problem.workload().dims.ids()) {
    if (problem.workload().dims[d].bound > 1 && !tensor.dims().contains(d)) {
      reduced.insert(d);
    }
  }
  const bool partial = t == problem.workload().output() && !reduced.empty() &&
                       array == problem.arch().fanouts.last();
  const auto bits = static_cast<double>((partial ? tensor.partial_bits : tensor.bits).count());
  double most = problem.arch().compute.register_reuse.contains(tensor.role) ? 1 : 0;
  for (std::size_t i = problem.arch().levels_above[array]; i < problem.arch().levels.size(); ++i) {
    const auto l = static_cast<LevelId>(i);
    if (problem.may_keep(l, t)) {
      const auto capacity = problem.capacity(l, tensor.role);
      most = std::max(most, capacity ? std::floor(static_cast<double>(capacity->count()) / bits)
                                     : std::numeric_limits<double>::infinity());
    }
  }
  return most;
}

}  // namespace

// E_d / T_d folds over its dims. A tile of e elements has T_d of at most e for each term of a rank,
// so that the folds have tiles / e^terms, and all their elements are tiles / e^(terms - 1).
LeastFolds least_folds(const Problem& problem, FanoutId array, const PerDim<std::int64_t>& bounds,
                       TensorId t) {
  const double most = most_elements(problem, array, t);
  double tiles = 1;
  std::size_t terms = 1;
  for (const Rank& rank : problem.workload().tensors[t].ranks) {
    terms = std::max(terms, rank.terms.size());
    for (const Term& term : rank.terms) {
      tiles *= static_cast<double>(bounds[term.dim]);
    }
  }
  if (most < 1) {
    return {};
  }
  const auto power = static_cast<double>(terms);
  const double folds = std::max(1.0, std::ceil(tiles / std::pow(most, power)));
  return {folds, std::max(folds, terms == 1 ? tiles : tiles / std::pow(most, power - 1))};
}

}  // namespace mapsim
