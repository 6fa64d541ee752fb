// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/outlook.hpp"

#include <algorithm>

namespace mapsim::exact {

double Outlook::energy_at(double cycles) const {
  double least = energy;
  for (const Line& line : lines) {
    least = std::max(least, line.energy - line.slope * cycles);
  }
  return least;
}

}  // namespace mapsim::exact
