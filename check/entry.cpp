// SPDX-License-Identifier: Apache-2.0
#include "check/entry.hpp"

#include <algorithm>
#include <numeric>

#include "check/spatial.hpp"

namespace mapsim::check {

bool NestEntry::varies() const {
  return std::any_of(sizes.begin(), sizes.end(),
                     [](const auto& of_dim) { return !of_dim.empty(); });
}

double NestEntry::operations(const Workload& workload) const {
  double product = 1;
  for (const DimId d : workload.dims.ids()) {
    product *= mean_size(d, workload.dims[d].bound);
  }
  return product;
}

std::vector<std::int64_t> extents_of(const NestEntry& entry, DimId d, std::int64_t bound) {
  std::int64_t common = bound;
  for (std::size_t i = 0; entry.varies(d) && i < entry.sizes[d].size(); ++i) {
    common = std::gcd(common, entry.sizes[d][i].size);
  }
  std::vector<std::int64_t> extents = divisors_of(common);
  if (common < bound) {
    extents.push_back(bound);
  }
  return extents;
}

}  // namespace mapsim::check
