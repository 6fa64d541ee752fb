// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <functional>
#include <optional>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::nests {

// The number of mappings of a space with imperfect factors: the sum of ExtentNests::count() over
// its unrollings. nullopt if `stop` returns true; it is called before each step of a few
// milliseconds.
std::optional<mpz_class> count_extent_nests(const Mapspace& space,
                                            const std::function<bool()>& stop);

}  // namespace mapsim::nests
