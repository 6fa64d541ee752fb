// SPDX-License-Identifier: Apache-2.0
#include "report/plan_check.hpp"

#include <nlohmann/json.hpp>

#include "report/json_head.hpp"

namespace mapsim {

std::string plan_check_json(const Provenance& origin, const check::PlanClaim& claim,
                            const check::PlanVerdict& verdict) {
  nlohmann::ordered_json json = provenance_json(origin);
  json["soc"] = claim.soc;
  json["network"] = claim.network;
  json["objective"] = claim.objective;
  json["holds"] = verdict.problems.empty();
  json["verified"] = verdict.verified;
  json["unverified"] = verdict.unverified;
  json["problems"] = verdict.problems;
  json["labels"] = verdict.labels;
  return json.dump(2) + '\n';
}

}  // namespace mapsim
