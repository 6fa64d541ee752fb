// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>

namespace mapsim {

// A number with its unit in its type: adding cycles to bits does not compile.
template <class Unit, class Rep>
class Quantity {
 public:
  using rep = Rep;
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_{value} {}
  constexpr Rep count() const { return value_; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity{a.value_ + b.value_};
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity{a.value_ - b.value_};
  }
  friend constexpr Quantity operator*(Quantity a, Rep b) { return Quantity{a.value_ * b}; }
  friend constexpr Quantity operator*(Rep a, Quantity b) { return Quantity{a * b.value_}; }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }

 private:
  Rep value_{};
};

using Cycles = Quantity<struct CyclesUnit, std::int64_t>;
using Bits = Quantity<struct BitsUnit, std::int64_t>;
using Picojoules = Quantity<struct PicojoulesUnit, double>;
using PicojoulesPerBit = Quantity<struct PicojoulesPerBitUnit, double>;
using BitsPerCycle = Quantity<struct BitsPerCycleUnit, double>;
using Hertz = Quantity<struct HertzUnit, double>;
using Milliwatts = Quantity<struct MilliwattsUnit, double>;
using SquareMillimetres = Quantity<struct SquareMillimetresUnit, double>;
using Seconds = Quantity<struct SecondsUnit, double>;

}  // namespace mapsim
