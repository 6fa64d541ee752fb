// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "core/units.hpp"

namespace mapsim {

// Where hardware is addressed and sold by the byte: GPUs.
using Bytes = Quantity<struct BytesUnit, std::int64_t>;
using BytesPerSecond = Quantity<struct BytesPerSecondUnit, double>;

}  // namespace mapsim
