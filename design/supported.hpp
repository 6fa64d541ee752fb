// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "campaign/campaign.hpp"

namespace mapsim {

// Throws UnsupportedSearch about what a search for the best design knows nothing of, by name.
void check_supported_by_design(const Campaign& campaign);

}  // namespace mapsim
