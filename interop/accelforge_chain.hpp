// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/accelforge.hpp"
#include "workloads/chain.hpp"

namespace mapsim {

// An einsum as a workload. Throws ConfigError with what a workload cannot express.
Workload forge_workload(const ForgeEinsum& einsum);

// The name of the first compute unit that is enabled for an einsum; empty: none.
std::string forge_compute_of(const Node& arch, const ForgeNames& names);

// Einsums that pass tensors on, as a chain. `rides` tells whether an einsum of one operand only
// renames the output of its producer, and so is no part of the chain. Nothing: they are no chain;
// if there are several, a note gives the reason.
using ForgeRides = std::function<bool(const ForgeEinsum&)>;
std::optional<EinsumChain> forge_chain(const std::vector<ForgeEinsum>& einsums,
                                       const ForgeRides& rides, ImportNotes& notes);

// The mapping of a chain's einsums as a mapping tree (YAML). Empty: it has no counterpart, and a
// note gives the reason.
std::string forge_tree(const Node& mapping, const Arch& arch, const EinsumChain& chain,
                       const std::vector<ForgeEinsum>& einsums, ImportNotes& notes);

}  // namespace mapsim
