// SPDX-License-Identifier: Apache-2.0
#include "mapper/supported.hpp"

#include <fmt/format.h>

#include "mapper/mapper.hpp"

namespace mapsim {

void check_supported(const Workload& workload, const Constraints& constraints,
                     std::string_view strategy) {
  if (!constraints.factors.balanced) {
    return;
  }
  if (strategy == "annealing" || strategy == "genetic") {
    throw UnsupportedSearch(fmt::format("{}: perfect factors only", strategy));
  }
  const std::size_t count = rungs(workload, constraints.factors);
  if (count > kMostRungs) {
    throw UnsupportedSearch(
        fmt::format("balanced factors: {} extents are too many ({} at most); a constraints file "
                    "can limit their pieces",
                    count, kMostRungs));
  }
}

}  // namespace mapsim
