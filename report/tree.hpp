// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/fusion/evaluate_tree.hpp"
#include "report/json.hpp"

namespace mapsim {

// Number of elements of an intermediate.
std::int64_t points_of(const EinsumChain& chain, const Intermediate& t);

// A mapping tree and its cost, for people: the tree; energy and time per einsum;
// each intermediate with its scope, live set and energy; what levels hold per
// phase.
std::string tree_cost_text(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                           const TreeCost& cost);

// The same without the costs of einsums: the tree, its intermediates, and what levels hold per
// phase.
std::string tree_scopes_text(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                             const TreeCost& cost);

// "bottleneck on teaching: 3 einsums, 2 intermediates, 231,211,008 MACs"
std::string chain_title_text(const Arch& arch, const EinsumChain& chain);

// What each level of limited size holds, by tensor, while each einsum runs.
std::string phases_text(const Arch& arch, const EinsumChain& chain, const TreeCost& cost);

// Why a tree does not fit: "while c1 runs, GLB needs 120 KiB for its tiles, has 108 KiB".
std::string exceeded_text(const Arch& arch, const EinsumChain& chain,
                          const PhaseExceeded& exceeded);

// The tree and its cost as JSON (docs/results_keys.md); for a tree that does
// not fit, `infeasible` states the reason.
std::string tree_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                      const MappingTree& tree,
                      const std::variant<TreeCost, PhaseExceeded>& evaluation);
// The result of `simulate` for a tree.
std::string tree_simulation_json(const Provenance& origin, const Arch& arch,
                                 const EinsumChain& chain, const MappingTree& tree,
                                 const SimulationRecord& record);

}  // namespace mapsim
