// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <functional>
#include <optional>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::nests {

// The mappings of an imperfect space, over all its unrollings: the sum of ExtentNests::count().
// Nothing if `stop` says so, which is asked before each of the steps of a few milliseconds.
std::optional<mpz_class> count_extent_nests(const Mapspace& space,
                                            const std::function<bool()>& stop);

}  // namespace mapsim::nests
