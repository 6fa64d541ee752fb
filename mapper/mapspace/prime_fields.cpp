// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/prime_fields.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "core/factor.hpp"

namespace mapsim {

PrimeFields::PrimeFields(const PerDim<std::int64_t>& bounds) : bounds_{bounds} {
  constexpr int kBits = 64;
  int used = 0;  // bits of the word at hand
  bool high = false;
  for (const DimId d : bounds.ids()) {
    for_each_prime(bounds[d], [&](std::int64_t prime, int exponent) {
      const int width = std::bit_width(static_cast<unsigned>(exponent));
      if (used + width + 1 > kBits) {
        assert(!high);
        high = true;
        used = 0;
      }
      const Field& field = fields_.emplace_back(Field{d, prime, exponent, high, used});
      used += width + 1;
      add(field, std::uint64_t{1} << width, guards_);
      add(field, static_cast<std::uint64_t>(exponent) | std::uint64_t{1} << width, full_);
    });
  }
}

PackedFactors PrimeFields::pack(const PerDim<std::int64_t>& factors) const {
  PackedFactors packed;
  for (const Field& field : fields_) {
    std::uint64_t exponent = 0;
    for (std::int64_t left = factors[field.dim]; left % field.prime == 0; left /= field.prime) {
      ++exponent;
    }
    add(field, exponent, packed);
  }
  return packed;
}

PerDim<std::int64_t> PrimeFields::left(const PackedFactors& factors) const {
  PerDim<std::int64_t> left = bounds_;
  for (const Field& field : fields_) {
    for (std::uint64_t e = exponent_of(field, factors); e > 0; --e) {
      left[field.dim] /= field.prime;
    }
  }
  return left;
}

PackedFactors PrimeFields::common(const PackedFactors& a, const PackedFactors& b) const {
  PackedFactors packed;
  for (const Field& field : fields_) {
    add(field, std::min(exponent_of(field, a), exponent_of(field, b)), packed);
  }
  return packed;
}

std::uint64_t PrimeFields::exponent_of(const Field& field, const PackedFactors& factors) const {
  const std::uint64_t mask =
      (std::uint64_t{1} << std::bit_width(static_cast<unsigned>(field.exponent))) - 1;
  return (field.high ? factors.high : factors.low) >> field.shift & mask;
}

void PrimeFields::add(const Field& field, std::uint64_t exponent, PackedFactors& factors) {
  (field.high ? factors.high : factors.low) += exponent << field.shift;
}

}  // namespace mapsim
