// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "mapper/front.hpp"
#include "random_space.hpp"

namespace mapsim {

// How search_front differs from the energy/latency front of all mappings of a space; empty: it does
// not.
std::string front_mismatch(const SearchCase& random, LatencyMode mode);

// How search_curve differs from searches with the capacity set to each step, and
// to one bit less; empty: it does not. `steps`: adds how many there were.
std::string curve_mismatch(const SearchCase& random, const Objective& objective,
                           const CurveCapacity& of, int& steps);

// Do two fronts differ in anything but the seconds? Names the field; empty: no.
std::string front_difference(const Front& a, const Front& b);

}  // namespace mapsim
