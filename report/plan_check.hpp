// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/plan_proof.hpp"
#include "report/json.hpp"

namespace mapsim {

// The verdict on a plan's certificate, as JSON (docs/results_keys.md).
std::string plan_check_json(const Provenance& origin, const check::PlanClaim& claim,
                            const check::PlanVerdict& verdict);

}  // namespace mapsim
