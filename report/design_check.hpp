// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/design_proof.hpp"
#include "report/json.hpp"

namespace mapsim {

// The verdict on the certificate of a search for designs, as JSON (docs/results_keys.md) and for
// people.
std::string design_check_json(const Provenance& origin, const check::DesignCertificate& certificate,
                              const check::DesignVerdict& verdict);
std::string design_check_text(const check::DesignCertificate& certificate,
                              const check::DesignVerdict& verdict);

}  // namespace mapsim
