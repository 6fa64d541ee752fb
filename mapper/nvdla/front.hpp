// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/front.hpp"

namespace mapsim {

// The energy/latency front of an engine's schedules in all forms that it has of the layer, a frame
// each: what search_front() is of nests. Throws UnsupportedSearch with constraints.
Front search_engine_front(const Mapspace& space, const SearchOptions& options);

}  // namespace mapsim
