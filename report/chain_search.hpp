// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/fusion/chain_search.hpp"
#include "report/json.hpp"

namespace mapsim {

// The least energy of each, what proves it, and the best mapping tree with its cost.
std::string chain_search_text(const Arch& arch, const EinsumChain& chain,
                              const ChainComparison& found);
// The same for programs: tree_json() of the best, and `search` (docs/results_keys.md).
std::string chain_search_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainComparison& found);

}  // namespace mapsim
