// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace mapsim {

// a / b and the next multiple of b, rounded up. a >= 0, b >= 1, a + b - 1 representable.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// For products and ratios of counts; exact up to 2^53.
constexpr double real(std::int64_t value) { return static_cast<double>(value); }

}  // namespace mapsim
