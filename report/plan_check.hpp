// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/plan_proof.hpp"
#include "report/json.hpp"

namespace mapsim {

// What checking a plan found (docs/results.md).
std::string plan_check_json(const Provenance& origin, const check::PlanClaim& claim,
                            const check::PlanVerdict& verdict);

}  // namespace mapsim
