// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>

namespace mapsim {

// One figure of so many mappings side by side: few enough that an evaluation's figures stay in the
// first-level cache, enough that what is common to all of them costs little.
inline constexpr std::size_t kLanes = 32;

// Whole numbers below 2^53 are exact in doubles, and vector units multiply doubles but not 64-bit
// integers. Loops of fixed length that the compiler turns into vector instructions.
struct Lanes {
  std::array<double, kLanes> at;

  Lanes() = default;
  explicit Lanes(double all) { at.fill(all); }
};

template <class Function>
Lanes map(const Function& f, const Lanes& a) {
  Lanes r;
  for (std::size_t i = 0; i < kLanes; ++i) {
    r.at[i] = f(a.at[i]);
  }
  return r;
}
template <class Function>
Lanes map(const Function& f, const Lanes& a, const Lanes& b) {
  Lanes r;
  for (std::size_t i = 0; i < kLanes; ++i) {
    r.at[i] = f(a.at[i], b.at[i]);
  }
  return r;
}
template <class Function>
Lanes map(const Function& f, const Lanes& a, const Lanes& b, const Lanes& c) {
  Lanes r;
  for (std::size_t i = 0; i < kLanes; ++i) {
    r.at[i] = f(a.at[i], b.at[i], c.at[i]);
  }
  return r;
}

inline Lanes& operator*=(Lanes& a, const Lanes& b) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    a.at[i] *= b.at[i];
  }
  return a;
}
inline Lanes& operator*=(Lanes& a, double b) {
  for (double& x : a.at) {
    x *= b;
  }
  return a;
}
inline Lanes& operator+=(Lanes& a, const Lanes& b) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    a.at[i] += b.at[i];
  }
  return a;
}
inline Lanes operator*(Lanes a, const Lanes& b) { return a *= b; }
inline Lanes operator*(Lanes a, double b) { return a *= b; }
inline Lanes operator+(Lanes a, const Lanes& b) { return a += b; }
inline Lanes operator-(const Lanes& a, const Lanes& b) {
  return map([](double x, double y) { return x - y; }, a, b);
}
inline Lanes operator/(const Lanes& a, const Lanes& b) {
  return map([](double x, double y) { return x / y; }, a, b);
}
inline Lanes max(const Lanes& a, const Lanes& b) {
  return map([](double x, double y) { return x > y ? x : y; }, a, b);
}

}  // namespace mapsim
