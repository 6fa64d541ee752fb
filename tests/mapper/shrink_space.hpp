// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "random_space.hpp"

namespace mapsim {

// A smaller problem that still fails: bounds reduced, levels and fanouts dropped, limits and flags
// reset, as far as it goes.
SearchCase shrink(SearchCase failing, const std::function<bool(const SearchCase&)>& fails);

// A problem as text that a person can follow: machine, einsum, constraints.
std::string describe(const SearchCase& random);

}  // namespace mapsim
