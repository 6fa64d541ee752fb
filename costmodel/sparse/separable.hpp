// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/problem.hpp"

namespace mapsim {

// Why the cost of a boundary depends on more than the tile below it, so that neither the exact
// search nor the check of its proof apply; empty: it does not. docs/sparsity.md#search.
std::string why_not_separable(const Problem& problem);

}  // namespace mapsim
