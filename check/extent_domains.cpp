// SPDX-License-Identifier: Apache-2.0
#include "check/extent_domains.hpp"

#include <algorithm>
#include <set>

#include "core/arithmetic.hpp"
#include "core/factor.hpp"

namespace mapsim::check {

namespace {

using Extents = std::set<std::int64_t>;

}  // namespace

ExtentDomains list_extent_domains(const Workload& workload, const Rules& rules) {
  ExtentDomains domains(workload.dims.size());
  for (const DimId d : domains.ids()) {
    const std::int64_t bound = workload.dims[d].bound;
    Extents extents{1, bound};
    const std::int64_t most = rules.pieces > 0 ? std::min(rules.pieces, bound) : bound;
    for (std::int64_t n = 1; n <= most;) {
      const std::int64_t extent = ceil_div(bound, n);
      extents.insert(extent);
      n = extent > 1 ? ceil_div(bound, extent - 1)
                     : most + 1;  // the next one with a smaller extent
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
