// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/fusion/chain_search.hpp"
#include "report/json.hpp"

namespace mapsim {

// The least energy with each kind of mapping tree, what proves it, and the best tree with its cost,
// for people.
std::string chain_search_text(const Arch& arch, const EinsumChain& chain,
                              const ChainComparison& found);
// The same as JSON: tree_json() of the best tree, and `search` (docs/results_keys.md).
std::string chain_search_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainComparison& found);

}  // namespace mapsim
