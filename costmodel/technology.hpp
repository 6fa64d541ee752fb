// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arch/arch.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The machine with the energies that depend on the widths of a workload filled in from its
// technology: energy, leakage and area of a MAC (a multiplication per further operand, an addition
// to the partial sum) and of an addition on the way up. Numbers in the file stay. The issue
// interval becomes that of the operands' widths; throws ConfigError if none is given for them.
Arch bind_widths(Arch arch, const Workload& workload);

}  // namespace mapsim
