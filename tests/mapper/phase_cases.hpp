// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/rng.hpp"
#include "random_space.hpp"

namespace mapsim {

// Small spaces of imperfect factors in which phases matter (mapper/bounds/phases.hpp,
// check/phases.hpp). A few thousand mappings each, or few enough tiles for exact searches.

// The i-th of a series: weights go straight to the level in an array, inputs and sums stop at a
// buffer that they share.
SearchCase small_array_case(Rng& rng, int i);

// While a loop over r inside the instances moves, r of the instances are apart: each has a block.
// A[3p + r] with such r shares more than with neighbours. The optimum is 58,123.5 pJ.
SearchCase case_of_blocks_apart();

// Of 13, tiles of 13, 7 and 1 in three instances: together they may work on two or three. The
// optimum is 586,613.8 pJ.
SearchCase case_of_extents_together();

}  // namespace mapsim
