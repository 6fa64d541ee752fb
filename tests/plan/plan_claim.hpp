// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "check/plan_proof.hpp"
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

// A claim as a certificate, and the problem that it is about.
nlohmann::json json_of(const check::PlanClaim& claim);
PlanProblem problem_of(const check::PlanClaim& claim);

// A certificate with one number changed, for every number and several changes, and what was
// changed.
void for_each_damage(const nlohmann::json& json,
                     const std::function<void(const nlohmann::json&, const std::string&)>& look);

}  // namespace mapsim
