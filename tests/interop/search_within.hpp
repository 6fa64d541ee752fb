// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>

#include "mapper/mapper.hpp"

namespace mapsim {

// The exact search, stopped after `limit`: then the best so far, with its true gap.
SearchResult search_within(const Mapspace& space, const Objective& objective,
                           std::chrono::seconds limit);

}  // namespace mapsim
