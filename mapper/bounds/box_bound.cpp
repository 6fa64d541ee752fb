// SPDX-License-Identifier: Apache-2.0
// UnrollingBound for boxes: a lower bound of all classes that take one choice from each box. Every
// step is monotone, so each figure takes its extreme over the choices:
//
// - instances that share: the most;
// - copies that elements need: the fewest;
// - copies to which no sum comes back: the most;
// - tiles that stay: divisors of what the common divisor of the choices leaves of the bounds.
//
// With imperfect factors some instances are without work, so the fewest copies follow from the
// fewest instances of each parallel loop (busy_copies()).
//
// Energy of additions is left out. docs/decisions/0052-unrollings-lazily.md.
#include "core/arithmetic.hpp"
#include "mapper/bounds/unrolling_bound.hpp"

namespace mapsim::exact {

UnrollingBound::UnrollingBound(const Mapspace& space, const PerTensor<TensorPaths>& paths,
                               const std::vector<TensorPair>& pairs, const Boxes& boxes)
    : UnrollingBound{space, paths, pairs, boxes.size()} {
  counts_additions_ = false;
  for (const FanoutId f : factors_.ids()) {
    factors_[f] = boxes[f]->divisor;
  }
  for (const TensorId t : paths_.ids()) {
    find_traffic(t, boxes);
    find_routes(t);
    find_choices(t);
  }
}

void UnrollingBound::find_traffic(TensorId t, const Boxes& boxes) {
  const TensorUse& use = paths_[t].use;
  Traffic& traffic = traffic_[t];
  traffic.copies.fill(1);
  traffic.busy.fill(1);
  traffic.served.resize(boxes.size());
  Extents below(problem_.workload().dims.size(), 1.0);  // along dims of the tensor
  double others = 1;                                    // along the others
  traffic.shared[latch_] = 1;
  std::size_t node = latch_;
  const auto fill_shared = [&](std::size_t end) {
    const double shared = others * most_shared(use, below);
    for (; node > end; --node) {
      traffic.shared[node - 1] = shared;
    }
  };
  for (std::size_t i = boxes.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    const branch::FactorBox& box = *boxes[f];
    const bool merges = problem_.is_merged(f, t);
    const std::size_t first_below = problem_.arch().levels_above[f];
    fill_shared(first_below);
    for (std::size_t n = first_below; n <= latch_; ++n) {
      traffic.served[f][n] = merges ? box.most_served[t] : 1;
      traffic.copies[n] *= box.most_copies[t];
      traffic.busy[n] *= box.fewest_copies[t];
    }
    others *= merges ? box.most_copies[t] : 1;
    // Windows share across fanouts, one of which may unroll one dim and another one the other.
    for (const DimId d : below.ids()) {
      below[d] *= merges && use.slides && use.dims.contains(d) ? box.most[d] : 1;
    }
  }
  fill_shared(0);
  for (std::size_t n = 0; imperfect_ && n <= latch_; ++n) {
    traffic.busy[n] = busy_copies(use, boxes, n);
  }
}

// As of a class, from the fewest instances of each loop: more never have fewer copies at work.
double UnrollingBound::busy_copies(const TensorUse& use, const Boxes& boxes,
                                   std::size_t node) const {
  double copies = 1;
  for (const DimId d : problem_.workload().dims.ids()) {
    double busy = 1;
    for (std::size_t i = boxes.size(); i-- > 0 && !use.dims.contains(d);) {
      const FanoutId f{static_cast<std::uint8_t>(i)};
      for (const std::size_t axis : {1U, 0U}) {  // innermost first
        const double fewest = boxes[f]->fewest_along[axis][d];
        if (fewest > 1 && problem_.arch().levels_above[f] <= node) {
          busy = (fewest - 1) * busy + 1;
        }
      }
    }
    copies *= busy;
  }
  return copies;
}

}  // namespace mapsim::exact
