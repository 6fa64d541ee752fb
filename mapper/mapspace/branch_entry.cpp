// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/branch_entry.hpp"

#include <numeric>

namespace mapsim {

std::vector<std::int64_t> BranchEntry::extents(DimId d, std::int64_t bound) const {
  std::int64_t common = bound;
  for (std::size_t i = 0; varies(d) && i < lengths[d].size(); ++i) {
    common = std::gcd(common, lengths[d][i].size);
  }
  std::vector<std::int64_t> extents;
  for (std::int64_t n = 1; n <= common; ++n) {
    if (common % n == 0) {
      extents.push_back(n);
    }
  }
  if (common < bound) {
    extents.push_back(bound);
  }
  return extents;
}

}  // namespace mapsim
