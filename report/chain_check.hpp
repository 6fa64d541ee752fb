// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/chain_proof.hpp"
#include "report/json.hpp"

namespace mapsim {

// What checking the certificate of a chain found.
std::string chain_check_text(const check::ChainClaim& claim, const check::ChainVerdict& verdict);
// The same for programs (docs/results.md).
std::string chain_check_json(const Provenance& origin, const check::ChainClaim& claim,
                             const check::ChainVerdict& verdict);

}  // namespace mapsim
