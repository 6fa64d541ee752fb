// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/fusion/chain_front.hpp"
#include "report/json.hpp"

namespace mapsim {

// Two Pareto fronts of energy and latency of a chain: of all mapping trees, and of those that map
// layer by layer and keep intermediates on chip where that pays.
struct ChainFronts {
  ChainFront fused;
  ChainFront on_chip;
};

// A table of the points, and what is proven, for people.
std::string chain_fronts_text(const Arch& arch, const EinsumChain& chain,
                              const ChainFronts& fronts);
// The same as JSON (docs/results_keys.md).
std::string chain_fronts_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainFronts& fronts);
// The fused front as steps over latency. A whole SVG file.
std::string chain_front_svg(const Arch& arch, const EinsumChain& chain, const ChainFront& front);

}  // namespace mapsim
