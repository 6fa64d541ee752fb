// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/tile_index.hpp"

#include <algorithm>

namespace mapsim::exact {

void TileIndex::set_radices(const PerDim<std::size_t>& radices, DimSet windows) {
  radices_ = radices;
  std::vector<DimId> order;
  for (const DimId d : radices.ids()) {
    order.push_back(d);
  }
  std::stable_sort(order.begin(), order.end(), [&](DimId a, DimId b) {
    const bool window = windows.contains(a);
    if (window != windows.contains(b)) {
      return !window;
    }
    return window ? radices[a] < radices[b] : radices[a] > radices[b];
  });
  for (const DimId d : order) {
    strides_[d] = size_;
    size_ *= radices[d];
  }
}

std::vector<std::uint16_t> TileIndex::digits_of_tiles(DimId d) const {
  auto digits = filled(std::uint16_t{0});
  sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
    std::fill(&digits[first], digits.data() + last, static_cast<std::uint16_t>(digit));
  });
  return digits;
}

}  // namespace mapsim::exact
