// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "core/reader.hpp"
#include "interop/accelforge_sets.hpp"

namespace mapsim {

// What a total_latency says: `factor` times the sum, or else the maximum, of the actions' times
// (numbers by throughputs), or of their numbers alone.
struct ForgePace {
  bool sums = true;
  bool by_throughput = true;
  double factor = 1;
};

// Reads the total_latency of a component, which may name the component's attributes. Errors go to
// the reader.
ForgePace read_forge_pace(Reader& reader, const Node& latency, const Node& component,
                          ForgeNames names);

}  // namespace mapsim
