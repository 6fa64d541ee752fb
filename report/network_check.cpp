// SPDX-License-Identifier: Apache-2.0
#include "report/network_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "check/certificate.hpp"
#include "core/diagnostic.hpp"
#include "report/chain_check.hpp"
#include "report/figures.hpp"
#include "report/json_head.hpp"

namespace mapsim {

namespace {

Statements statements_of(const check::NetworkClaim& claim, const check::NetworkVerdict& verdict,
                         bool is_of_file) {
  Statements stated;
  const auto state = [&](bool is_verified, const std::string& what) {
    (verdict.problems.empty() && is_verified ? stated.verified : stated.unverified).push_back(what);
  };
  state(true, "the claim about these chains and their layers");
  state(true, "the mappings and their costs");
  const auto trees =
      std::count_if(claim.parts.begin(), claim.parts.end(),
                    [](const check::ChainClaim& part) { return part.tree.has_value(); });
  state(verdict.walked == static_cast<std::size_t>(trees), "their costs, step by step");
  state(is_of_file, fmt::format("that {} is cut into these chains", printable(claim.network)));
  if (claim.records_inputs) {
    state(false, "the hashes of the files that the search read");
  }
  state(false, fmt::format("that it is by {}", printable(claim.tool)));
  return stated;
}

std::string network_claim_text(const check::NetworkClaim& claim) {
  const std::string value = check::value_text(claim.value, claim.goal);
  const bool is_least = !(claim.lower_bound < claim.value * (1 - check::kTolerance));
  return fmt::format(
      "with a mapping tree of each chain, or its layers one by one, the network needs no less than "
      "{}; {}",
      is_least ? value : check::value_text(claim.lower_bound, claim.goal),
      is_least ? "one choice needs that" : "the best known needs " + value);
}

}  // namespace

std::string network_check_text(const check::NetworkClaim& claim,
                               const check::NetworkVerdict& verdict, bool is_of_file) {
  const Statements stated = statements_of(claim, verdict, is_of_file);
  const bool holds = verdict.problems.empty();
  const std::optional<check::FusedSpace> space = check::space_of(claim);
  std::string text =
      fmt::format("{} on {}: the proof {}\nclaim: {}\n{}{}\n", printable(claim.network),
                  claim.parts.front().arch.name, holds ? "holds" : "does not hold",
                  network_claim_text(claim), statements_text(stated, claim.goal),
                  space ? fmt::format("space: {}\n", space_text(*space)) : "");
  if (!holds) {
    text += "what is wrong:\n";
    for (const std::string& wrong : verdict.problems) {
      text += fmt::format("  {}\n", wrong);
    }
    return text;
  }
  const check::FusedBound& bound = verdict.bound;
  return text +
         fmt::format(
             "how it was checked:\n"
             "  {} chains, and {} certificates of distinct chains and layers, each of which holds\n"
             "  of each chain the lesser of its bound and that of its layers one by one, times how "
             "often the\n  network has it, and the memory traffic outside add up to the claim\n"
             "checked in {}; searches of one einsum: {}; labels: {}\n",
             claim.chains.size(), claim.parts.size(), scaled(verdict.seconds, "s"),
             grouped(bound.branches), grouped(bound.labels));
}

std::string network_check_json(const Provenance& origin, const check::NetworkClaim& claim,
                               const check::NetworkVerdict& verdict, bool is_of_file) {
  const Statements stated = statements_of(claim, verdict, is_of_file);
  const std::optional<check::FusedSpace> space = check::space_of(claim);
  nlohmann::ordered_json json = provenance_json(origin);
  json["arch"] = claim.parts.front().arch.name;
  json["network"] = claim.network;
  json["check"] = statements_json(stated, claim.goal, verdict.problems);
  json["check"].update({{"value", claim.value},
                        {"lower_bound", claim.lower_bound},
                        {"space", space ? space_json(*space) : nlohmann::ordered_json{}},
                        {"chains", claim.chains.size()},
                        {"parts", claim.parts.size()},
                        {"branches", verdict.bound.branches},
                        {"labels", verdict.bound.labels}});
  json["statistics"] = {{"seconds", verdict.seconds}};
  return json.dump(2) + '\n';
}

}  // namespace mapsim
