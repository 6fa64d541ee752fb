// SPDX-License-Identifier: Apache-2.0
#include "check/extent_domains.hpp"

#include <algorithm>
#include <set>

#include "core/arithmetic.hpp"
#include "core/factor.hpp"

namespace mapsim::check {

std::vector<std::int64_t> even_extents(std::int64_t bound) {
  std::vector<std::int64_t> extents;
  for (std::int64_t extent = bound; extent >= 1;) {
    extents.push_back(extent);
    extent = extent > 1 ? ceil_div(bound, ceil_div(bound, extent - 1)) : 0;
  }
  std::reverse(extents.begin(), extents.end());
  return extents;
}

ExtentDomains list_extent_domains(const Workload& workload, const Rules& rules) {
  ExtentDomains domains(workload.dims.size());
  for (const DimId d : domains.ids()) {
    const std::int64_t bound = workload.dims[d].bound;
    std::set<std::int64_t> extents{1, bound};
    for (const std::int64_t extent : even_extents(bound)) {
      if (rules.pieces <= 0 || ceil_div(bound, extent) <= rules.pieces) {
        extents.insert(extent);
      }
    }
    if (rules.pieces > 0) {
      const std::vector<std::int64_t> divisors = divisors_of(bound);
      extents.insert(divisors.begin(), divisors.end());
    }
    extents.insert(rules.tiles[d].begin(), rules.tiles[d].end());
    domains[d] = {extents.begin(), extents.end()};
  }
  return domains;
}

std::optional<std::int64_t> block_of(const std::vector<std::int64_t>& domain, std::int64_t tile,
                                     std::int64_t instances) {
  const std::int64_t block = ceil_div(tile, instances);
  const bool all_work = ceil_div(tile, block) == instances;
  return all_work && std::binary_search(domain.begin(), domain.end(), block) ? std::optional{block}
                                                                             : std::nullopt;
}

}  // namespace mapsim::check
