// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "check/chain_proof.hpp"
#include "report/json.hpp"

namespace mapsim {

// The verdict on a chain's certificate, for people: whether the claim holds, and what does not.
std::string chain_check_text(const check::ChainClaim& claim, const check::ChainVerdict& verdict);
// The same as JSON (docs/results_keys.md).
std::string chain_check_json(const Provenance& origin, const check::ChainClaim& claim,
                             const check::ChainVerdict& verdict);

// All that a certificate states, by whether it was looked at and is true.
struct Statements {
  std::vector<std::string> verified;
  std::vector<std::string> unverified;
};
// "verified: ...\nnot verified: ...\nobjective: ...\n".
std::string statements_text(const Statements& stated, const check::Goal& goal);
// What the key `check` of a verdict begins with; `problems`: what is wrong.
nlohmann::ordered_json statements_json(const Statements& stated, const check::Goal& goal,
                                       const std::vector<std::string>& problems);

// "groups of at most 3 einsums, ...": a space of mapping trees.
std::string space_text(const check::FusedSpace& space);
nlohmann::ordered_json space_json(const check::FusedSpace& space);

}  // namespace mapsim
