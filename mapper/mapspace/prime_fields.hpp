// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "core/index.hpp"

namespace mapsim {

// Factors of all dims, packed as exponents of primes: one bit field per prime of each bound. If the
// product of a problem's bounds is below 2^63, they take fewer than 128 bits.
struct PackedFactors {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const PackedFactors&, const PackedFactors&) = default;
};

// Multiplies packed factors by adding exponents. Each field has one guard bit more than its bound
// needs, so a single subtraction tests for all dims whether a product still divides the bounds.
class PrimeFields {
 public:
  explicit PrimeFields(const PerDim<std::int64_t>& bounds);

  const PerDim<std::int64_t>& bounds() const { return bounds_; }
  // Packs factors that divide their bounds.
  PackedFactors pack(const PerDim<std::int64_t>& factors) const;
  // The bounds divided by such factors.
  PerDim<std::int64_t> left(const PackedFactors& factors) const;
  // Multiplies `product` by `factors`, both of which divide the bounds. Returns whether the result
  // does, too.
  bool multiply(PackedFactors& product, const PackedFactors& factors) const {
    product.low += factors.low;
    product.high += factors.high;
    return ((full_.low - product.low) & guards_.low) == guards_.low &&
           ((full_.high - product.high) & guards_.high) == guards_.high;
  }
  // The greatest common divisor of two products, per dim.
  PackedFactors common(const PackedFactors& a, const PackedFactors& b) const;

 private:
  struct Field {
    DimId dim{};
    std::int64_t prime = 2;
    int exponent = 0;  // of the bound
    bool high = false;
    int shift = 0;
  };
  std::uint64_t exponent_of(const Field& field, const PackedFactors& factors) const;
  static void add(const Field& field, std::uint64_t exponent, PackedFactors& factors);

  PerDim<std::int64_t> bounds_;
  std::vector<Field> fields_;
  PackedFactors full_;    // the exponents of the bounds, each with its guard bit set
  PackedFactors guards_;  // the guard bits
};

}  // namespace mapsim
