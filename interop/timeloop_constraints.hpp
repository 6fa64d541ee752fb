// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/timeloop.hpp"
#include "interop/timeloop_components.hpp"

namespace mapsim {

// Constraints of a mapspace: what is kept and bypassed, which dims may be unrolled along an axis
// and by how much, and the factors and the order of temporal loops. What else Timeloop can demand
// (parallelism, overbooking ...) has no counterpart here and is an error that names it, unless it
// demands nothing.
void read_timeloop_constraints(Reader& reader, const Node& section, const TimeloopMachine& machine,
                               const Workload& workload,
                               std::vector<TimeloopConstraint>& constraints);

// The same as version 0.4 writes it, inside of the component that it is about; what a container
// says of its instances is about the fanout below the storage above it.
void read_component_constraints(Reader& reader, const TimeloopPlacedConstraint& placed,
                                const TimeloopMachine& machine, const Workload& workload,
                                std::vector<TimeloopConstraint>& constraints);

}  // namespace mapsim
