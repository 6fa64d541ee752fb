// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "check/plan_proof.hpp"
#include "plan/at_once.hpp"
#include "plan/servers.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

// A problem as the checker reads it.
inline check::PlanPrice price_of(const Load& load) {
  return {load.latency, load.energy, load.bytes, load.busy, load.engine};
}

inline std::vector<std::optional<check::PlanPrice>> prices_of(
    const std::vector<std::optional<Load>>& loads) {
  std::vector<std::optional<check::PlanPrice>> prices;
  for (const auto& load : loads) {
    prices.push_back(load ? std::optional{price_of(*load)} : std::nullopt);
  }
  return prices;
}

inline check::PlanClaim claim_of(const PlanProblem& problem) {
  check::PlanClaim claim;
  claim.operations = problem.operations;
  claim.engines = problem.engines;
  claim.places = problem.places;
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    claim.tensors.push_back({tensor.readers, prices_of(tensor.moves)});
  }
  for (const PlanProblem::Choice& choice : problem.choices) {
    claim.groups.push_back(
        {choice.operations, choice.reads, choice.writes, choice.anchor, prices_of(choice.on)});
  }
  return claim;
}

// The same for engines at once, as yet without a schedule; and the claim of a schedule.
check::PlanClaim claim_of(const PlanProblem& problem, const std::vector<std::size_t>& engine_of,
                          const std::vector<Server>& servers);
void add_schedule(const AtOnce& schedule, check::PlanClaim& claim);

// A claim as a certificate, and the problem that it is about.
nlohmann::json json_of(const check::PlanClaim& claim);
PlanProblem problem_of(const check::PlanClaim& claim);

// What becomes of certificates with one number changed.
struct Damaged {
  int unreadable = 0, refused = 0, accepted = 0;
};
// Changes every number of a claim's certificate, one at a time and in several ways, has each
// checked, and shows those that the checker accepts, with its verdict and what was changed.
void for_each_accepted_damage(
    const check::PlanClaim& claim, Damaged& counted,
    const std::function<void(const check::PlanClaim&, const check::PlanVerdict&,
                             const std::string&)>& look);

}  // namespace mapsim
