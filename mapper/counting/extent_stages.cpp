// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/extent_stages.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "mapper/counting/counting.hpp"

namespace mapsim::nests {

mpz_class factorial(std::size_t n) {
  mpz_class result;
  mpz_fac_ui(result.get_mpz_t(), n);
  return result;
}

ExtentStages::ExtentStages(const Mapspace& space, const UnrollingClass& unrolling_class)
    : placements_{space, unrolling_class} {
  const std::size_t stages = placements_.used_fanouts().size() + 1;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const auto loose = [&](std::size_t points) {
      mpz_class product = 1;
      for (const Chain& chain : placements_.chains()) {
        product *=
            spread(chain, placements_.first_level(stage), placements_.end_level(stage), points);
      }
      return product;
    };
    at_one_point_.push_back(loose(1));
    const std::size_t most = placements_.chains().size() * placements_.end_level(stage);
    std::vector<mpz_class>& occupied = arrangements_.emplace_back(most + 1);
    for (std::size_t k = 0; k <= most; ++k) {
      for (std::size_t i = 0; i <= k; ++i) {
        const mpz_class term = binomial(k, i) * loose(i + ends(stage));
        occupied[k] += (k - i) % 2 == 0 ? term : mpz_class{-term};
      }
    }
  }
}

std::size_t ExtentStages::ends(std::size_t stage) const {
  return (stage > 0 ? 1U : 0U) + (stage < placements_.used_fanouts().size() ? 1U : 0U);
}

mpz_class ExtentStages::barriers(std::size_t stage, std::size_t extents, std::size_t points) const {
  return binomial(extents + 1 - ends(stage), points);
}

mpz_class ExtentStages::ways(std::size_t stage, std::size_t extents) const {
  if (ends(stage) > extents + 1) {
    return at_one_point_[stage];
  }
  mpz_class sum;
  for (std::size_t k = 0; k < arrangements_[stage].size(); ++k) {
    sum += arrangements_[stage][k] * barriers(stage, extents, k);
  }
  return sum;
}

Unrolling of_dim(const Unrolling& unrolling, DimId dim) {
  Unrolling own;
  std::copy_if(unrolling.begin(), unrolling.end(), std::back_inserter(own),
               [dim](const Unroll& unroll) { return unroll.dim == dim; });
  return own;
}

bool visit_splits(const Mapspace& space, const std::vector<FanoutId>& used, const Unrolling& own,
                  DimId dim, const std::function<bool(const Extents&)>& visit,
                  const std::function<bool()>& go_on) {
  const ExtentDomain& domain = space.domains()[dim];
  Extents split(used.size() + 1, 0);
  const std::function<bool(std::size_t, std::size_t)> descend = [&](std::size_t stage,
                                                                    std::size_t from) {
    if (stage == used.size()) {
      split[stage] = from;
      return visit(split);
    }
    for (std::size_t to = 0; to <= from; ++to) {
      PerDim<std::int64_t> tile(space.domains().size(), 1);
      tile[dim] = domain[to];
      const auto block = behind(space.domains(), own, used[stage], tile);
      split[stage] = from - to;
      if (!(block ? descend(stage + 1, extent_of(domain, (*block)[dim])) : go_on())) {
        return false;
      }
    }
    return true;
  };
  return descend(0, domain.size() - 1);
}

std::vector<Extents> splits(const Mapspace& space, const std::vector<FanoutId>& used,
                            const Unrolling& own, DimId dim) {
  std::vector<Extents> found;
  const auto add = [&](const Extents& split) {
    found.push_back(split);
    return true;
  };
  visit_splits(space, used, own, dim, add, [] { return true; });
  return found;
}

mpz_class weight_of_split(const Mapspace& space, DimId dim, const Extents& split) {
  mpz_class weight = factorial(space.domains()[dim].size() - 1);
  for (const std::size_t extents : split) {
    weight /= factorial(extents);
  }
  return weight;
}

}  // namespace mapsim::nests
