// SPDX-License-Identifier: Apache-2.0
// The largest sizes that any reader of layers and networks takes.
#pragma once

#include <cstdint>

namespace mapsim {

// The largest extent, stride or padding of a shape, so that sums of two products fit 64 bits.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30;

// Multiply-accumulates of all layers of a network together.
inline constexpr std::int64_t kMaxMacs = std::int64_t{1} << 62;

}  // namespace mapsim
