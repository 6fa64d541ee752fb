// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/front.hpp"

namespace mapsim {

// The energy/latency front of an engine's schedules in all forms of the layer, per frame: the
// counterpart of search_front(). Throws UnsupportedSearch if there are constraints.
Front search_engine_front(const Mapspace& space, const SearchOptions& options);

}  // namespace mapsim
