// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arch/arch.hpp"
#include "core/units.hpp"

namespace mapsim {

struct StreamCost {
  Picojoules energy{0};
  Cycles latency{0};
};

// The memory roof of the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009): all reads and
// writes cross the outermost level once, at its full bandwidth; reads cost `read`, writes `update`,
// and the machine leaks meanwhile. Computing costs nothing and is never slower.
StreamCost stream_cost(const Arch& arch, Bits in, Bits out);

}  // namespace mapsim
