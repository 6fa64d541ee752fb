// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/evaluate.hpp"

namespace mapsim {

// Fills the widths of `counts` from its accesses. Operands are as wide as their tensor, sums as
// crosses_once() says of each end of a boundary. A level stores sums as wide as they arrive from
// below. Asks for the accesses of the output only.
void assign_widths(const Workload& workload, Counts& counts);
// The same where the output has so many distinct elements, each of which is made once, and the
// outermost level may keep none.
void assign_widths(const Workload& workload, std::int64_t distinct, Counts& counts);

// Of networks: sums are as wide as they come in from below.
void assign_network_widths(const Workload& workload, Counts& counts);
void assign_network_widths(const Workload& workload, std::int64_t distinct, Counts& counts);

// Bits through the ports of the busiest instance, from accesses and widths.
void assign_ports(Counts& counts);

}  // namespace mapsim
