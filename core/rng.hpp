// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace mapsim {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one word of state, the same stream on every
// machine, which the distributions of <random> do not promise.
class Rng {
 public:
  constexpr explicit Rng(std::uint64_t seed) : state_{seed} {}
  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound), bound >= 1; unbiased by rejection.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = bound * (UINT64_MAX / bound);
    std::uint64_t x = next();
    while (x >= limit) {
      x = next();
    }
    return x % bound;
  }
  // Uniform in [least, most].
  constexpr std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  // Uniform in [0, 1).
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace mapsim
