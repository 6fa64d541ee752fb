// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>

#include "mapper/mapper.hpp"
#include "random_space.hpp"

namespace mapsim {

inline constexpr std::array kObjectives{Objective::kEnergy, Objective::kLatency, Objective::kEdp};

// How the exact mapper's answer for an objective differs from what evaluating every mapping of the
// space says: feasibility, the optimum (to a relative 1e-9), where the mapping lies and what it
// costs, the certificate. Empty: it does not. One pass over the space for all objectives.
std::array<std::string, kObjectives.size()> exact_mismatches(const SearchCase& random);

// The first of them, with the name of its objective; empty: none.
std::string exact_mismatch(const SearchCase& random);

// Do two results differ in anything but the seconds? Names the field; empty: no.
std::string result_difference(const SearchResult& a, const SearchResult& b);

}  // namespace mapsim
