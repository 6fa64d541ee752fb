// SPDX-License-Identifier: Apache-2.0
#include "mapper/nests/rung_phases.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "mapper/nests/counting.hpp"

namespace mapsim::nests {

mpz_class factorial(std::size_t n) {
  mpz_class result;
  mpz_fac_ui(result.get_mpz_t(), n);
  return result;
}

RungPhases::RungPhases(const Mapspace& space, const UnrollingGroup& group)
    : placements_{space, group} {
  const std::size_t phases = placements_.used_fanouts().size() + 1;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    const auto loose = [&](std::size_t points) {
      mpz_class product = 1;
      for (const Chain& chain : placements_.chains()) {
        product *=
            spread(chain, placements_.first_level(phase), placements_.end_level(phase), points);
      }
      return product;
    };
    at_one_point_.push_back(loose(1));
    const std::size_t most = placements_.chains().size() * placements_.end_level(phase);
    std::vector<mpz_class>& occupied = arrangements_.emplace_back(most + 1);
    for (std::size_t k = 0; k <= most; ++k) {
      for (std::size_t i = 0; i <= k; ++i) {
        const mpz_class term = binomial(k, i) * loose(i + ends(phase));
        occupied[k] += (k - i) % 2 == 0 ? term : mpz_class{-term};
      }
    }
  }
}

std::size_t RungPhases::ends(std::size_t phase) const {
  return (phase > 0 ? 1U : 0U) + (phase < placements_.used_fanouts().size() ? 1U : 0U);
}

mpz_class RungPhases::barriers(std::size_t phase, std::size_t rungs, std::size_t points) const {
  return binomial(rungs + 1 - ends(phase), points);
}

mpz_class RungPhases::ways(std::size_t phase, std::size_t rungs) const {
  if (ends(phase) > rungs + 1) {
    return at_one_point_[phase];
  }
  mpz_class sum;
  for (std::size_t k = 0; k < arrangements_[phase].size(); ++k) {
    sum += arrangements_[phase][k] * barriers(phase, rungs, k);
  }
  return sum;
}

Unrolling of_dim(const Unrolling& unrolling, DimId dim) {
  Unrolling own;
  std::copy_if(unrolling.begin(), unrolling.end(), std::back_inserter(own),
               [dim](const Unroll& unroll) { return unroll.dim == dim; });
  return own;
}

std::vector<Rungs> splits(const Mapspace& space, const std::vector<FanoutId>& used,
                          const Unrolling& own, DimId dim) {
  const Ladder& ladder = space.ladders()[dim];
  std::vector<Rungs> found;
  Rungs split(used.size() + 1, 0);
  const std::function<void(std::size_t, std::size_t)> descend = [&](std::size_t phase,
                                                                    std::size_t from) {
    if (phase == used.size()) {
      split[phase] = from;
      found.push_back(split);
      return;
    }
    for (std::size_t to = 0; to <= from; ++to) {
      PerDim<std::int64_t> tile(space.ladders().size(), 1);
      tile[dim] = ladder[to];
      if (const auto block = behind(space.ladders(), own, used[phase], tile)) {
        split[phase] = from - to;
        descend(phase + 1, rung_of(ladder, (*block)[dim]));
      }
    }
  };
  descend(0, ladder.size() - 1);
  return found;
}

mpz_class weight_of_split(const Mapspace& space, DimId dim, const Rungs& split) {
  mpz_class weight = factorial(space.ladders()[dim].size() - 1);
  for (const std::size_t rungs : split) {
    weight /= factorial(rungs);
  }
  return weight;
}

}  // namespace mapsim::nests
