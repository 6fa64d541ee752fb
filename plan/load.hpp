// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <optional>
#include <vector>

namespace mapsim {

inline constexpr double kBitsPerByte = 8;
inline constexpr double kPicojoulesPerJoule = 1e12;

// What a part of a plan takes.
struct Load {
  double latency = 0;  // [s]; parts of a plan run one after the other
  double energy = 0;   // [pJ]
  double bytes = 0;    // through the memory of the chip
  // The engine that works meanwhile, and how long [s], at most the latency; of a transition the one
  // that converts.
  std::optional<std::size_t> engine{};
  double busy = 0;
  friend bool operator==(const Load&, const Load&) = default;
};

// The objective of a plan: a weighted sum of what it takes; each weight is at least 0.
struct Weights {
  double latency = 0;
  double energy = 0;
  double bytes = 0;
  std::vector<double> busy{};  // by engine; empty: 0
  double of(const Load& load) const {
    const double engine = load.engine && *load.engine < busy.size() ? busy[*load.engine] : 0;
    return latency * load.latency + energy * load.energy + bytes * load.bytes + engine * load.busy;
  }
};

// Two sums of a plan, or of a part. The second one counts where the first ones are equal.
struct Value {
  double first = 0, second = 0;
  friend auto operator<=>(const Value&, const Value&) = default;
  friend Value operator+(const Value& a, const Value& b) {
    return {a.first + b.first, a.second + b.second};
  }
  friend Value operator-(const Value& a, const Value& b) {
    return {a.first - b.first, a.second - b.second};
  }
};

}  // namespace mapsim
