// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim {

// A case as text that a person can follow: machine, einsum, nest.
std::string describe(const RandomCase& random);

// The first field in which two counts of one case differ, with both values; empty if they are
// equal.
std::string first_difference(const RandomCase& random, const Counts& walked, const Counts& closed);

// How count() differs from simulate() on this case; empty if it does not.
std::string count_mismatch(const RandomCase& random);

}  // namespace mapsim
