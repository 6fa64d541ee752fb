// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/fusion/evaluate_tree.hpp"
#include "report/json.hpp"

namespace mapsim {

// Elements of an intermediate.
std::int64_t points_of(const EinsumChain& chain, const Intermediate& t);

// A mapping tree and what it costs, for people: the tree; energy and time per
// einsum; each intermediate with its scope, live set and energy; what levels
// hold per phase.
std::string tree_cost_text(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                           const TreeCost& cost);

// The tree, its intermediates and what levels hold per phase: the part of it without costs of
// einsums.
std::string tree_scopes_text(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                             const TreeCost& cost);

// "bottleneck on teaching: 3 einsums, 2 intermediates, 231,211,008 MACs"
std::string chain_title_text(const Arch& arch, const EinsumChain& chain);

// What levels of limited size hold while each einsum runs, and of what.
std::string phases_text(const Arch& arch, const EinsumChain& chain, const TreeCost& cost);

// "while c1 runs, GLB needs 120 KiB for its tiles, has 108 KiB"
std::string exceeded_text(const Arch& arch, const EinsumChain& chain,
                          const PhaseExceeded& exceeded);

// The same for programs (docs/results_keys.md); nothing fits:
// `infeasible` says why.
std::string tree_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                      const MappingTree& tree,
                      const std::variant<TreeCost, PhaseExceeded>& evaluation);
std::string tree_simulation_json(const Provenance& origin, const Arch& arch,
                                 const EinsumChain& chain, const MappingTree& tree,
                                 const SimulationRecord& record);

}  // namespace mapsim
