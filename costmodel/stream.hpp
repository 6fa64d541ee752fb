// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arch/arch.hpp"
#include "core/units.hpp"

namespace mapsim {

struct StreamCost {
  Picojoules energy{0};
  Cycles latency{0};
};

// The memory roof of the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009): what is read
// and written crosses the outermost level once, at its full bandwidth; reads pay `read`, writes
// `update`, leakage runs meanwhile. Computing costs nothing and is never slower.
StreamCost stream_cost(const Arch& arch, Bits in, Bits out);

}  // namespace mapsim
