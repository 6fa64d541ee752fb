// SPDX-License-Identifier: Apache-2.0
#include "design/archive.hpp"

#include <algorithm>
#include <utility>

namespace mapsim {

double Archive::worth(double area) const {
  if (wanted_ == Wanted::kBest) {
    return designs_.size() < count_ ? kNoMapping : designs_.back().value;
  }
  for (const BestDesign& design : designs_) {
    if (design.area.value_or(0) <= area) {
      return design.value;
    }
  }
  return kNoMapping;
}

bool Archive::take(BestDesign design) {
  const double area = design.area.value_or(0);
  if (design.value * (1 + kRounding) >= worth(area)) {
    return false;
  }
  if (wanted_ == Wanted::kFront) {
    std::erase_if(designs_, [&](const BestDesign& other) {
      return other.value * (1 + kRounding) >= design.value && other.area.value_or(0) >= area;
    });
  }
  const auto place =
      std::upper_bound(designs_.begin(), designs_.end(), design.value,
                       [](double value, const BestDesign& other) { return value < other.value; });
  designs_.insert(place, std::move(design));
  if (wanted_ == Wanted::kBest && designs_.size() > count_) {
    designs_.pop_back();
  }
  return true;
}

}  // namespace mapsim
