// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/branch_entry.hpp"

#include <numeric>

#include "mapper/mapspace/factor.hpp"

namespace mapsim {

std::vector<std::int64_t> BranchEntry::extents(DimId d, std::int64_t bound) const {
  std::int64_t common = bound;
  for (std::size_t i = 0; varies(d) && i < lengths[d].size(); ++i) {
    common = std::gcd(common, lengths[d][i].size);
  }
  std::vector<std::int64_t> extents = divisors(common);
  if (common < bound) {
    extents.push_back(bound);
  }
  return extents;
}

}  // namespace mapsim
