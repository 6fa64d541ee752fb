// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/design_proof.hpp"
#include "report/json.hpp"

namespace mapsim {

// What checking the proof of the best designs of a space found (docs/results.md).
std::string design_check_json(const Provenance& origin, const check::DesignCertificate& certificate,
                              const check::DesignVerdict& verdict);
std::string design_check_text(const check::DesignCertificate& certificate,
                              const check::DesignVerdict& verdict);

}  // namespace mapsim
