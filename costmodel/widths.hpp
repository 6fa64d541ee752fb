// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/evaluate.hpp"

namespace mapsim {

// Fills the widths of `counts` from its accesses. Operands have their tensor's width; sums have the
// width that crosses_once() gives for each end of a boundary. A level stores sums with the width at
// which they arrive from below. Uses the accesses of the output only.
void assign_widths(const Workload& workload, Counts& counts);
// The same for an output of `distinct` elements, each made once; the outermost level may keep none
// of them.
void assign_widths(const Workload& workload, std::int64_t distinct, Counts& counts);

// Widths in networks: sums have the width at which they enter from below.
void assign_network_widths(const Workload& workload, Counts& counts);
void assign_network_widths(const Workload& workload, std::int64_t distinct, Counts& counts);

// Bits through the ports of the busiest instance, from accesses and widths.
void assign_ports(Counts& counts);

}  // namespace mapsim
