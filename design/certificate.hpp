// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "design/search.hpp"

namespace mapsim {

// Why an answer to such a question can have no certificate; empty: it can.
std::string why_no_certificate(const Campaign& campaign);

// The proof of an answer as a file that `mapsim check` verifies (docs/certificates.md): grids,
// work, limits, the designs that were found with their mappings, boxes that tile the grids, and the
// bounds of layers that close them. Of an interrupted search it claims the gap that is left; empty:
// there is nothing that it could claim.
std::string design_certificate(const Campaign& campaign, const DesignOptions& options,
                               const DesignAnswer& answer);

}  // namespace mapsim
