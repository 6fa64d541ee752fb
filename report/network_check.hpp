// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/network_proof.hpp"
#include "report/json.hpp"

namespace mapsim {

// What a check of a fused network's certificate says. `is_of_file`: the chains were compared with
// those of the network's file.
std::string network_check_text(const check::NetworkClaim& claim,
                               const check::NetworkVerdict& verdict, bool is_of_file);
std::string network_check_json(const Provenance& origin, const check::NetworkClaim& claim,
                               const check::NetworkVerdict& verdict, bool is_of_file);

}  // namespace mapsim
