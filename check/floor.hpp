// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/goal.hpp"
#include "check/spatial.hpp"

namespace mapsim::check {

// What no mapping of the unrolling can do without, whatever its tiles: the goal's figures of the
// operations, the steps of the compute units, every element once through the outermost level, and
// the compute units' accesses to whichever level serves them most cheaply.
Figures floor_of(const Problem& problem, const Rules& rules, const Goal& goal,
                 const Unrolling& unrolling);

}  // namespace mapsim::check
