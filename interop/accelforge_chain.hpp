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

// An einsum as a workload of ours. Throws ConfigError with what it cannot be.
Workload forge_workload(const ForgeEinsum& einsum);

// The first compute unit of a machine that is enabled for an einsum; empty: none.
std::string forge_compute_of(const Node& arch, const ForgeNames& names);

// Einsums that pass tensors on. `rides` says of an einsum of one operand whether it has no part in
// the chain but for a new name of what its producer makes. Empty: they are no chain, and a note
// says why where they are several einsums.
using ForgeRides = std::function<bool(const ForgeEinsum&)>;
std::optional<EinsumChain> forge_chain(const std::vector<ForgeEinsum>& einsums,
                                       const ForgeRides& rides, ImportNotes& notes);

// The mapping of a chain's einsums as a mapping tree (YAML). Empty: it has no counterpart, and a
// note says why.
std::string forge_tree(const Node& mapping, const Arch& arch, const EinsumChain& chain,
                       const std::vector<ForgeEinsum>& einsums, ImportNotes& notes);

}  // namespace mapsim
