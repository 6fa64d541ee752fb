// SPDX-License-Identifier: Apache-2.0
#include "report/chain_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "check/certificate.hpp"
#include "core/diagnostic.hpp"
#include "report/figures.hpp"
#include "report/json_head.hpp"

namespace mapsim {

namespace {

Statements stated_by(const check::ChainClaim& claim, const check::ChainVerdict& verdict) {
  Statements stated;
  const auto state = [&](bool is_verified, const std::string& what) {
    (verdict.problems.empty() && is_verified ? stated.verified : stated.unverified).push_back(what);
  };
  state(true, "the claim");
  for (const check::ProvenSum& sum : claim.sums) {
    state(true, fmt::format("that no tree needs less {} than {} {}", to_string(sum.function),
                            sum.least, check::unit_of(sum.function)));
  }
  if (claim.tree) {
    state(true, "the mapping and its cost");
    state(verdict.walked, "its cost, step by step");
  }
  if (claim.records_inputs) {
    state(false, "the hashes of the files that the search read");
  }
  state(false, fmt::format("that it is by {}", printable(claim.tool)));
  return stated;
}

std::string claim_text(const check::ChainClaim& claim) {
  const std::string unit = check::unit_of(claim.goal.function);
  if (!claim.tree && !(claim.lower_bound < HUGE_VAL)) {
    return "none fits";
  }
  if (!claim.tree) {
    return fmt::format("none needs less than {} {}", claim.lower_bound, unit);
  }
  return claim.lower_bound < claim.value
             ? fmt::format("none needs less than {0} {2}; the best known needs {1} {2}",
                           claim.lower_bound, claim.value, unit)
             : fmt::format("none needs less than {} {}, and one needs that", claim.value, unit);
}

}  // namespace

std::string statements_text(const Statements& stated, const check::Goal& goal) {
  return fmt::format(
      "verified: {}\nnot verified: {}\nobjective: {}\n",
      stated.verified.empty() ? "nothing" : fmt::format("{}", fmt::join(stated.verified, "; ")),
      fmt::join(stated.unverified, "; "), check::goal_text(goal));
}

nlohmann::ordered_json statements_json(const Statements& stated, const check::Goal& goal,
                                       const std::vector<std::string>& problems) {
  return {{"holds", problems.empty()},           {"verified", stated.verified},
          {"unverified", stated.unverified},     {"problems", problems},
          {"objective", check::goal_text(goal)}, {"unit", check::unit_of(goal.function)}};
}

std::string space_text(const check::FusedSpace& space) {
  return fmt::format(
      "groups of at most {} einsums, at most {} shared loops, intermediates {}", space.most_einsums,
      space.most_loops,
      space.may_hold ? "may be held whole between groups" : "are spilled between groups");
}

nlohmann::ordered_json space_json(const check::FusedSpace& space) {
  return {{"max_group", space.most_einsums},
          {"shared_loops", space.most_loops},
          {"hold", space.may_hold}};
}

std::string chain_check_text(const check::ChainClaim& claim, const check::ChainVerdict& verdict) {
  const Statements stated = stated_by(claim, verdict);
  const bool holds = verdict.problems.empty();
  std::string text =
      fmt::format("{} on {}: the proof {}\nclaimed of all mapping trees: {}\n{}space: {}\n\n",
                  claim.chain.name, claim.arch.name, holds ? "holds" : "does not hold",
                  claim_text(claim), statements_text(stated, claim.goal), space_text(claim.space));
  if (!holds) {
    text += "what is wrong:\n";
    for (const std::string& wrong : verdict.problems) {
      text += fmt::format("  {}\n", wrong);
    }
    return text;
  }
  text += "how it was checked:\n";
  if (claim.tree) {
    text += fmt::format("  the mapping lies in the space, fits, and needs what is claimed{}\n",
                        verdict.walked ? ", walked step by step" : "");
  }
  const check::FusedBound& bound = verdict.bound;
  text += claim.sums.empty() ? "" : "  the lower bound follows from the least sums above\n";
  text += fmt::format(
      "  no tree needs less: {} sets of shared loops, {} of them by a bound for any order and "
      "scopes;\n  the others have {} interfaces, {} of them by a bound for any keeps and {} by "
      "trying the keeps\n",
      grouped(bound.classes), grouped(bound.closed), grouped(bound.interfaces),
      grouped(bound.interfaces - bound.joined), grouped(bound.joined));
  return text + fmt::format("checked in {}; searches of one einsum: {}; labels: {}\n",
                            scaled(verdict.seconds, "s"), grouped(bound.branches),
                            grouped(bound.labels));
}

std::string chain_check_json(const Provenance& origin, const check::ChainClaim& claim,
                             const check::ChainVerdict& verdict) {
  using Json = nlohmann::ordered_json;
  const Statements stated = stated_by(claim, verdict);
  const auto figure = [](double value) { return value < HUGE_VAL ? Json(value) : Json(); };
  Json json = provenance_json(origin);
  json["arch"] = claim.arch.name;
  json["chain"] = claim.chain.name;
  json["check"] = statements_json(stated, claim.goal, verdict.problems);
  json["check"].update({{"value", figure(claim.value)},
                        {"lower_bound", figure(claim.lower_bound)},
                        {"space", space_json(claim.space)},
                        {"walked", verdict.walked},
                        {"groups", verdict.bound.groups},
                        {"classes", verdict.bound.classes},
                        {"closed", verdict.bound.closed},
                        {"interfaces", verdict.bound.interfaces},
                        {"joined", verdict.bound.joined},
                        {"branches", verdict.bound.branches},
                        {"labels", verdict.bound.labels}});
  json["statistics"] = {{"seconds", verdict.seconds}};
  return json.dump(2) + '\n';
}

}  // namespace mapsim
