// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/lattice.hpp"

namespace mapsim::exact {

namespace {

std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t i = 1; i * i <= n; ++i) {
    if (n % i == 0) {
      low.push_back(i);
      if (i * i != n) {
        high.push_back(n / i);
      }
    }
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

bool is_prime(std::int64_t n) {
  for (std::int64_t i = 2; i * i <= n; ++i) {
    if (n % i == 0) {
      return false;
    }
  }
  return n > 1;
}

}  // namespace

Lattice::Lattice(const PerDim<std::int64_t>& bounds)
    : divisors_(bounds.size()),
      strides_(bounds.size()),
      covers_(bounds.size()),
      belows_(bounds.size()) {
  for (const DimId d : bounds.ids()) {
    divisors_[d] = divisors_of(bounds[d]);
    strides_[d] = size_;
    size_ *= divisors_[d].size();
    const auto& divisors = divisors_[d];
    covers_[d].resize(divisors.size());
    belows_[d].resize(divisors.size());
    for (std::size_t i = 0; i < divisors.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (divisors[i] % divisors[k] == 0) {
          belows_[d][i].push_back(k);
          if (is_prime(divisors[i] / divisors[k])) {
            covers_[d][i].push_back(k);
          }
        }
      }
    }
  }
}

PerDim<std::int64_t> Lattice::extents(std::size_t tile) const {
  PerDim<std::int64_t> extents(divisors_.size());
  for (const DimId d : divisors_.ids()) {
    extents[d] = extent(d, tile);
  }
  return extents;
}

}  // namespace mapsim::exact
