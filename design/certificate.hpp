// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "check/design_certificate.hpp"
#include "design/search.hpp"

namespace mapsim {

// Why an answer to such a question can have no certificate; empty: it can.
std::string why_no_certificate(const Campaign& campaign, const DesignOptions& options);
// The same of an answer: of an interrupted search of several designs, or where it takes more than
// bounds of layers.
std::string why_no_certificate(const DesignOptions& options, const DesignAnswer& answer);

// The proof of an answer as a file that `mapsim check` verifies (docs/certificates.md): grids,
// work, limits, the designs that were found with their mappings, boxes that tile the grids, and the
// bounds of layers that close them. Of an interrupted search it claims the gap that is left; empty:
// why_no_certificate().
std::string design_certificate(const Campaign& campaign, const DesignOptions& options,
                               const DesignAnswer& answer);

// What sets the designs and layers of a certificate apart from those of a space, one line each;
// empty: nothing. Throws ConfigError where a design cannot be read.
std::vector<std::string> differences(const check::DesignCertificate& certificate,
                                     const Campaign& space);

}  // namespace mapsim
