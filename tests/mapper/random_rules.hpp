// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Rules of every kind for the unrollings, extents and loops of a mapspace of `problem`, at random;
// with imperfect factors any numbers, else divisors. The space may be empty after it.
void add_random_rules(Rng& rng, const Problem& problem, Constraints& constraints);

}  // namespace mapsim
