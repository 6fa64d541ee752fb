// SPDX-License-Identifier: Apache-2.0
#include "check/plan_proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "check/plan_at_once.hpp"
#include "check/plan_demands.hpp"
#include "check/plan_needs.hpp"

namespace mapsim::check {

namespace {

constexpr std::size_t kMostLabels = 5'000'000;

std::string limits_text(const PlanClaim& claim) {
  std::string text;
  for (const PlanLimit& limit : claim.limits) {
    text += text.empty() ? "" : " and ";
    text += limit.is_of_latency()
                ? fmt::format("a latency of {:.9g} s", limit.most)
                : fmt::format("a mean power of {:.9g} W", -limit.of.latency / kPicojoules);
  }
  if (claim.memory_limit) {
    text += fmt::format("{}{:.9g} B of tensors alive at once", text.empty() ? "" : " and ",
                        claim.memory_limit->most);
  }
  return text;
}

// What no plan within the limits is to be below: the plan, or the bound where memory is limited.
PlanValue floor_of(const PlanClaim& claim) {
  return claim.memory_limit ? PlanValue{claim.memory_limit->bound, 0}
                            : PlanValue{claim.value, claim.tie};
}

// "no plan of these groups at these prices takes less, of those with at most ...".
std::string proven_text(const PlanClaim& claim) {
  const double bound = floor_of(claim).first;
  const std::string limits = limits_text(claim);
  return fmt::format(
      "no plan of these groups at these prices takes less{}{}",
      is_close(bound, claim.value)
          ? ""
          : fmt::format(" than {:.9g} ({:.2f} % less)", bound, 100 * (1 - bound / claim.value)),
      limits.empty() ? "" : ", of those with at most " + limits);
}

// The resources that a plan takes: per engine, bytes and energy; and its value.
struct Walked {
  std::vector<double> loads;
  double value = 0, tie = 0;
  double latency = 0;
  std::string problem;
};

class Walk {
 public:
  Walk(const PlanClaim& claim, const PlanWeights& weights)
      : claim_{claim},
        weights_{weights},
        there_(claim.tensors.size()),
        covered_(claim.operations, false) {
    walked_.loads.resize(claim.engines + 2);
  }

  Walked run(const PlanChoices& plan) {
    for (std::size_t k = 0; k < plan.size(); ++k) {
      const auto& [group, place] = plan[k];
      if (group >= claim_.groups.size() || place >= claim_.places ||
          !claim_.groups[group].on[place]) {
        walked_.problem = "it runs a group where that does not run";
      }
      if (!walked_.problem.empty()) {
        return walked_;
      }
      step(claim_.groups[group], place, claim_.moves.empty() ? nullptr : &claim_.moves[k]);
    }
    if (std::find(covered_.begin(), covered_.end(), false) != covered_.end()) {
      walked_.problem = "an operation is in no group of it";
    }
    return walked_;
  }

 private:
  void add(const PlanPrice& price) {
    walked_.value += weights_.value(price);
    walked_.tie += claim_.ties.value(price);
    walked_.latency += price.latency;
    if (price.engine && *price.engine < claim_.engines) {
      walked_.loads[*price.engine] += price.busy;
    }
    walked_.loads[claim_.engines] += price.bytes;
    walked_.loads[claim_.engines + 1] += price.energy;
  }

  void step(const PlanGroup& group, std::size_t place, const PlanSources* sources) {
    for (const std::size_t i : group.operations) {
      if (covered_[i]) {
        walked_.problem = "an operation is in two groups of it";
      }
      covered_[i] = true;
    }
    for (const std::size_t tensor : group.reads) {
      fetch(tensor, place, sources);
    }
    add(*group.on[place]);
    for (const std::size_t tensor : group.writes) {
      there_[tensor] = {place};
    }
  }

  // From the cheapest place that has it, or the one that is named.
  void fetch(std::size_t tensor, std::size_t place, const PlanSources* sources) {
    std::vector<std::size_t>& there = there_[tensor];
    if (std::find(there.begin(), there.end(), place) != there.end()) {
      return;
    }
    const auto value = [this](const PlanPrice& price) {
      return PlanValue{weights_.value(price), claim_.ties.value(price)};
    };
    const PlanPrice* least = nullptr;
    for (const std::size_t from : there) {
      const bool may = sources == nullptr || std::find(sources->begin(), sources->end(),
                                                       std::pair{tensor, from}) != sources->end();
      const PlanPrice* move = move_of(claim_, tensor, from, place);
      if (may && move != nullptr && (least == nullptr || value(*move) < value(*least))) {
        least = move;
      }
    }
    if (least == nullptr) {
      walked_.problem = "a group reads a tensor that is not there, and has no way";
      return;
    }
    add(*least);
    there.push_back(place);
  }

  const PlanClaim& claim_;
  const PlanWeights& weights_;
  std::vector<std::vector<std::size_t>> there_;  // by tensor: places
  std::vector<bool> covered_;
  Walked walked_;
};

// Whether the plan keeps its limits, and none that does takes less.
void check_limits(const PlanClaim& claim, const Walked& walked, PlanVerdict& verdict) {
  const std::string most = "at most " + limits_text(claim);
  for (const PlanLimit& limit : claim.limits) {
    const double energy = walked.loads[claim.engines + 1];
    if (!limit.keeps(walked.latency, energy, kPlanClose)) {
      verdict.problems.push_back(
          fmt::format("the plan takes {:.9g} s and {:.9g} pJ, and is to take {}", walked.latency,
                      energy, most));
    }
  }
  const auto less = has_plan_below(claim, floor_of(claim), kMostLabels, verdict.labels);
  if (!less) {
    verdict.unverified.push_back(
        "whether another plan that keeps the limits takes less: too many labels");
  } else if (*less) {
    verdict.problems.push_back("another plan keeps the limits and takes less");
  } else {
    verdict.verified.push_back(proven_text(claim));
  }
}

// Whether the plan keeps the limit on power for which the clock was lowered.
void check_clock(const PlanClaim::Clock& clock, double latency, double energy,
                 PlanVerdict& verdict) {
  const PlanLimit limit{{-clock.most_watts * kPicojoules, 1, 0, {}}, 0, 0};
  if (limit.keeps(latency, energy, kPlanClose)) {
    verdict.verified.push_back(
        fmt::format("the plan keeps a mean power of {:.9g} W", clock.most_watts));
  } else {
    verdict.problems.push_back(
        fmt::format("the plan draws {:.9g} W, and is to draw at most {:.9g} W",
                    energy / latency / kPicojoules, clock.most_watts));
  }
}

// Whether the plan keeps the limit on memory.
void check_memory_limit(const PlanClaim& claim, PlanVerdict& verdict) {
  const auto& [most, bound, least, whole, inputs] = *claim.memory_limit;
  const double needed = most_needed(claim);
  if (needed > most || claim.peak > most) {
    verdict.problems.push_back(
        fmt::format("tensors of the plan take {:.9g} B, and are to take at most {:.9g} B",
                    std::max(needed, claim.peak), most));
  }
  if (claim.alive < needed) {
    verdict.problems.push_back(
        fmt::format("{:.9g} B are alive at once, where {:.9g} B are claimed", needed, claim.alive));
  }
  if (bound > claim.value * (1 + kPlanClose)) {
    verdict.problems.push_back("the bound is above what the plan takes");
  }
  verdict.unverified.push_back("whether a plan that takes as much has less of the other figure");
}

void check_frame(const PlanClaim& claim, PlanVerdict& verdict) {
  const Walked walked = Walk{claim, claim.weights}.run(claim.plan);
  if (!walked.problem.empty()) {
    verdict.problems.push_back("the plan is none: " + walked.problem);
    return;
  }
  for (const auto& [takes, claimed] :
       {std::pair{walked.value, claim.value}, std::pair{walked.tie, claim.tie}}) {
    if (!is_close(takes, claimed)) {
      verdict.problems.push_back(
          fmt::format("the plan takes {:.9g}, where {:.9g} is claimed", takes, claimed));
    }
  }
  verdict.verified.push_back("the plan covers every operation once, and takes what is claimed");
  if (claim.clock) {
    check_clock(*claim.clock, walked.latency, walked.loads[claim.engines + 1], verdict);
  }
  if (claim.memory_limit) {
    check_memory_limit(claim, verdict);
  }
  if (!claim.limits.empty()) {
    check_limits(claim, walked, verdict);
    return;
  }
  const auto [value, tie] = floor_of(claim);
  const auto least = least_plan(claim, claim.weights, claim.ties, kMostLabels, verdict.labels);
  if (!least) {
    verdict.unverified.push_back("whether another plan takes less: too many labels");
  } else if (least->first < value * (1 - kPlanClose)) {
    verdict.problems.push_back(
        fmt::format("another plan takes {:.9g}, less than {:.9g}", least->first, value));
  } else if (least->second < tie * (1 - kPlanClose)) {
    verdict.problems.push_back(
        fmt::format("another plan takes as much, but of the other figure {:.9g}, less than {:.9g}",
                    least->second, claim.tie));
  } else {
    verdict.verified.push_back(proven_text(claim));
  }
}

// Verifies the plans of a stream: the mix fits; its rate equals the value of the capacities at the
// duals; no plan is worth more than it costs.
void check_stream(const PlanClaim& claim, PlanVerdict& verdict) {
  std::vector<double> used(claim.engines + 2, 0);
  double rate = 0;
  for (const auto& [share, plan] : claim.mix) {
    const Walked walked = Walk{claim, claim.weights}.run(plan);
    if (!walked.problem.empty()) {
      verdict.problems.push_back("the mix has a plan that is not one: " + walked.problem);
      return;
    }
    if (!(share >= 0)) {
      verdict.problems.push_back("a plan of the mix runs at a rate below 0");
    }
    rate += share;
    for (std::size_t r = 0; r < used.size(); ++r) {
      used[r] += share * walked.loads[r];
    }
  }
  double worth = 0;
  for (std::size_t r = 0; r < claim.capacities.size() && r < used.size(); ++r) {
    worth += claim.capacities[r] * claim.duals.at(r);
    if (used[r] > claim.capacities[r] * (1 + kPlanClose) || claim.duals[r] < 0) {
      verdict.problems.push_back("the mix of plans takes more than there is");
    }
  }
  if (!is_close(rate, claim.value)) {
    verdict.problems.push_back("the rates of the mix have another sum than is claimed");
  }
  verdict.verified.push_back("the mix of plans fits, and its rates add up");
  PlanWeights weights;
  weights.busy.assign(claim.duals.begin(),
                      claim.duals.begin() + static_cast<std::ptrdiff_t>(claim.engines));
  weights.bytes = claim.duals.at(claim.engines);
  weights.energy = claim.duals.size() > claim.engines + 1 ? claim.duals[claim.engines + 1] : 0;
  const auto least = least_plan(claim, weights, {}, kMostLabels, verdict.labels);
  constexpr double kRound = 1e-6;  // of duals
  // Duals at which a plan costs nothing bound no mix.
  const double most = least && least->first > 0 ? worth / std::min(1.0, least->first) : HUGE_VAL;
  if (!least) {
    verdict.unverified.push_back("whether another mix gives more: too many labels");
  } else if (most > claim.value * (1 + kRound)) {
    verdict.problems.push_back(
        fmt::format("the duals bound it by {:.6g}, not by {:.6g}", most, claim.value));
  } else {
    verdict.verified.push_back("no mix of plans gives more (duals)");
  }
}

}  // namespace

PlanVerdict check_plan(const PlanClaim& claim) {
  PlanVerdict verdict;
  if (claim.at_once) {
    const bool is_in_turn = claim.at_once->tasks.empty();
    const Walked walked = is_in_turn ? Walk{claim, claim.weights}.run(claim.plan) : Walked{};
    if (is_in_turn && (!walked.problem.empty() || !is_close(walked.value, claim.value))) {
      verdict.problems.push_back("the plan is none, or takes another time than is claimed");
    }
    check_at_once(claim, verdict);
  } else if (claim.mix.empty()) {
    check_frame(claim, verdict);
  } else {
    check_stream(claim, verdict);
  }
  if (!claim.buffers.empty() || claim.peak > 0 || claim.alive > 0) {
    check_memory(claim, verdict);
  }
  verdict.unverified.push_back("the prices of groups: mapsim search --certificate proves a layer");
  if (claim.clock) {
    verdict.unverified.push_back(fmt::format(
        "that these are prices at {:.4g} % of the full clock, and that no higher clock keeps the "
        "limit",
        100 * claim.clock->share));
  }
  return verdict;
}

}  // namespace mapsim::check
