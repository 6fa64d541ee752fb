// SPDX-License-Identifier: Apache-2.0
#include "check/plan_proof.hpp"

#include <gmock/gmock.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/diagnostic.hpp"
#include "plan/limits.hpp"
#include "plan/priced.hpp"
#include "plan/throughput.hpp"
#include "tests/plan/plan_claim.hpp"
#include "tests/plan/random_plan.hpp"

namespace mapsim::plan_proof_test {
namespace {

constexpr std::size_t kLabels = 1'000'000;

check::PlanChoices choices_of(const std::vector<PlanStep>& steps) {
  check::PlanChoices choices;
  for (const PlanStep& step : steps) {
    choices.emplace_back(step.choice, step.engine);
  }
  return choices;
}

// The search that found the plan goes forward, the checker's backward.
TEST(PlanProof, HoldsForPathsAndRefutesOthers) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    Rng rng{seed};
    const Weights weights = random_weights(rng, problem.engines);
    check::PlanClaim claim = claim_of(problem);
    claim.weights = {weights.latency, weights.energy, weights.bytes, weights.busy};
    std::size_t labels = 0;
    const auto path = shortest_path(problem, weights);
    const auto least = check::least_plan(claim, claim.weights, {}, kLabels, labels);
    ASSERT_EQ(path.has_value(), least.has_value()) << seed;
    if (!path) {
      continue;
    }
    EXPECT_EQ(least->first, path->value) << seed;
    claim.plan = choices_of(path->steps);
    claim.value = path->value;
    const check::PlanVerdict verdict = check::check_plan(claim);
    EXPECT_THAT(verdict.problems, testing::IsEmpty()) << seed;
    EXPECT_THAT(verdict.verified,
                testing::Contains("no plan of these groups at these prices takes less"));
    ++compared;
    claim.value += 1;
    EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
    claim.value -= 1;
    claim.plan.pop_back();
    EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
  }
  EXPECT_GT(compared, 300);
}

TEST(PlanProof, HoldsForMixesByTheirDuals) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    std::vector<double> capacities(problem.engines + 2, 50);
    const StreamMix mix = best_mix(problem, capacities);
    if (mix.plans.empty() || !(mix.rate < 1e6)) {
      continue;
    }
    check::PlanClaim claim = claim_of(problem);
    claim.weights = {1, 0, 0, {}};
    claim.capacities = capacities;
    claim.duals = mix.duals;
    claim.value = mix.rate;
    for (const auto& [rate, steps] : mix.plans) {
      claim.mix.emplace_back(rate, choices_of(steps));
    }
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    ++compared;
    claim.capacities.front() *= 2;  // more is possible than is claimed, and the duals say so
    for (double& dual : claim.duals) {
      dual /= 2;
    }
    claim.value = mix.rate * 2;
    EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
  }
  EXPECT_GT(compared, 50);
}

// Of plans with as little energy the fastest one.
TEST(PlanProof, RefutesPlansThatLoseATie) {
  int refuted = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PlanProblem problem = coarse_plan_problem(seed);
    check::PlanClaim claim = claim_of(problem);
    claim.weights = {0, 1, 0, {}};
    claim.ties = {1, 0, 0, {}};
    const auto path = shortest_path(problem, {0, 1, 0, {}}, {1, 0, 0, {}});
    if (!path) {
      continue;
    }
    claim.plan = choices_of(path->steps);
    claim.value = path->value;
    claim.tie = path->tie;
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    const auto other = shortest_path(problem, {0, 1, 0, {}});
    const Load total = plan_of(problem, other->steps).total;
    if (total.latency > path->tie) {
      claim.plan = choices_of(other->steps);
      claim.tie = total.latency;
      EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
      ++refuted;
    }
  }
  EXPECT_GT(refuted, 30);
}

// Limits on latency, power or both, between what two plans take; then plans that are worse, break
// the limit, or have been found under a tighter one.
TEST(PlanProof, HoldsForPlansUnderLimitsAndRefutesOthers) {
  const Weights latency{1, 0, 0, {}};
  const Weights energy{0, 1, 0, {}};
  int compared = 0;
  int worse = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    const auto fast = shortest_path(problem, latency, energy);
    const auto cheap = shortest_path(problem, energy, latency);
    if (!fast || fast->tie == cheap->value || fast->value == 0) {
      continue;
    }
    const double power = (fast->tie / fast->value + cheap->value / cheap->tie) / 2;
    const PlanLimit by_power{{-power, 1, 0, {}}, 0};
    const PlanLimit by_time{latency, (fast->value + cheap->tie) / 2};
    for (const auto& [weights, ties, limits] :
         {std::tuple{latency, energy, std::vector{by_power}},
          {energy, latency, std::vector{by_time}},
          {energy, latency, std::vector{by_time, by_power}}}) {
      const LimitedPlan found = limited_path(problem, weights, ties, limits, kLabels, kLabels);
      if (!found.path) {
        continue;
      }
      const auto claimed = [&](const LimitedPlan& plan) {
        check::PlanClaim claim = claim_of(problem);
        claim.weights = {weights.latency, weights.energy, 0, {}};
        claim.ties = {ties.latency, ties.energy, 0, {}};
        claim.value = plan.path->value;
        claim.tie = plan.path->tie;
        claim.plan = choices_of(plan.path->steps);
        for (const PlanStep& step : plan.path->steps) {
          claim.moves.emplace_back();
          for (const PlanMove& move : step.moves) {
            claim.moves.back().emplace_back(move.tensor, move.from);
          }
        }
        for (std::size_t k = 0; k < limits.size(); ++k) {
          claim.limits.push_back({{limits[k].of.latency, limits[k].of.energy, 0, {}},
                                  limits[k].most,
                                  found.multipliers[k]});
        }
        return claim;
      };
      check::PlanClaim claim = claimed(found);
      EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
      ++compared;
      for (check::PlanLimit& limit : claim.limits) {
        limit.multiplier = 0;  // any multiplier is good for a proof
      }
      EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
      claim.value += 1;
      EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
      // The best plan without limits breaks one, if it is another.
      const LimitedPlan free = limited_path(problem, weights, ties, {}, kLabels, kLabels);
      if (free.path->value < found.path->value) {
        EXPECT_FALSE(check::check_plan(claimed(free)).problems.empty()) << seed;
      }
      // The best one under a tighter limit is worse.
      std::vector<PlanLimit> tighter = limits;
      tighter.front().most -= 1;
      const LimitedPlan other = limited_path(problem, weights, ties, tighter, kLabels, kLabels);
      if (other.path && other.path->value > found.path->value) {
        check::PlanClaim lie = claimed(other);
        EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
        for (const double multiplier : {1e9, 1e100, 1e300, 1e307}) {  // no good for a bound
          for (check::PlanLimit& limit : lie.limits) {
            limit.multiplier = multiplier;
          }
          EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed << ' ' << multiplier;
        }
        ++worse;
      }
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(worse, 15);
}

// Operations on the only place of one engine, without tensors.
check::PlanClaim claim_on_one_place(std::size_t operations, const char* objective) {
  check::PlanClaim claim;
  claim.operations = operations;
  claim.places = 1;
  claim.engines = 1;
  claim.objective = objective;
  const bool is_energy = claim.objective == "energy";
  claim.weights = {is_energy ? 0. : 1., is_energy ? 1. : 0., 0, {}};
  return claim;
}

check::PlanGroup group_of(std::size_t operation, double latency, double energy) {
  return {{operation}, {}, {}, operation, {check::PlanPrice{latency, energy, 0, 0, 0}}};
}

// Latency and energy of each group have the same sum: of no two plans one is better in both, and
// without a multiplier no bound tells that none keeps the limit. The list of those that are known
// is not compared with for as long as that takes.
TEST(PlanProof, EndsWhereLimitsLeaveTooManyPlans) {
  Rng rng{1};
  check::PlanClaim claim = claim_on_one_place(40, "latency");
  constexpr double kSum = 3e6;
  for (std::size_t i = 0; i < claim.operations; ++i) {
    for (int k = 0; k < 2; ++k) {
      const double latency = 1e6 + static_cast<double>(rng.below(1'000'000));
      claim.groups.push_back(group_of(i, latency, kSum - latency));
    }
    claim.value += kSum / 2;
  }
  claim.limits = {{{0, 1, 0, {}}, claim.value - 1, 0}};
  constexpr std::size_t kMost = 100'000;
  std::size_t labels = 0;
  EXPECT_EQ(check::has_plan_below(claim, {claim.value, 0}, kMost, labels), std::nullopt);
  EXPECT_LT(labels, kMost);  // it is what they are compared with that was too much
}

// Of one engine, and two groups that do the same: in 5 cycles, 2 s of the engine and 3 B, or in 6
// cycles, 4 s and 3 B.
std::string with_groups(const std::string& rest) {
  return R"({"plan_certificate": {"soc": "s", "network": "n", "operations": 1, "engines": 1,
"places": ["e"], "tensors": [{"readers": [0], "moves": [null]}], "groups": [
{"operations": [0], "reads": [], "writes": [], "anchor": 0, "on": [[5, 7, 3, 2, 0]]},
{"operations": [0], "reads": [], "writes": [], "anchor": 0, "on": [[6, 6, 3, 4, 0]]}],
"weights": {"latency": 1, "energy": 0, "bytes": 0}, )" +
         rest + "}}";
}

std::string frame_text() {
  return with_groups(
      R"("objective": "latency", "plan": [[0, 0]], "value": 5, "memory": {"peak": 16, "alive": 16,
"buffers": [{"bytes": 8, "offset": 0, "first": 0, "last": 1},
{"bytes": 8, "offset": 8, "first": 1, "last": 1}, {"bytes": 8, "offset": 0, "first": 2, "last": 2}]})");
}

std::string stream_text() {
  return with_groups(
      R"("objective": "throughput", "plan": [], "value": 0.5, "stream": {"rooms": [1, 100],
"duals": [0.5, 0], "mix": [{"rate": 0.5, "plan": [[0, 0]]}]})");
}

// The first thing that is wrong; empty: nothing.
std::string complaint(const std::string& text) {
  try {
    const check::PlanVerdict verdict = check::check_plan(check::parse_plan_claim(text, "p"));
    return verdict.problems.empty() ? "" : verdict.problems.front();
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
}

// With pieces replaced, from, to, from, to ...
std::string lie(std::string text, const std::vector<std::string>& changes) {
  for (std::size_t i = 0; i < changes.size(); i += 2) {
    const std::size_t at = text.find(changes[i]);
    EXPECT_NE(at, std::string::npos) << changes[i];
    text.replace(at, changes[i].size(), changes[i + 1]);
  }
  return text;
}

// 0.3, 0.2 and 0.1 s add up to a little more or less than 0.6, by their order: such a plan keeps a
// limit of 0.6 s, whoever adds it up.
TEST(PlanProof, KnowsPlansThatKeepALimitToRounding) {
  check::PlanClaim claim = claim_on_one_place(3, "energy");
  claim.limits = {{{1, 0, 0, {}}, 0.6, 0}};
  for (const auto& seconds : {std::vector<double>{0.3, 0.2, 0.1}, {0.1, 0.2, 0.3}}) {
    claim.groups.clear();
    for (std::size_t i = 0; i < 3; ++i) {
      claim.groups.push_back(group_of(i, seconds[i], 1));
    }
    claim.groups.push_back(group_of(2, 0.05, 5));
    std::size_t labels = 0;
    EXPECT_EQ(check::has_plan_below(claim, {7, 0}, 1000, labels), true);
    EXPECT_EQ(check::has_plan_below(claim, {3, 0}, 1000, labels), false);
  }
}

TEST(PlanProof, NamesTheLimitsThatItIsAbout) {
  const std::string text = with_groups(
      R"("objective": "latency", "plan": [[1, 0]], "moves": [[]], "value": 6,
"limits": [{"latency": -1.2, "energy": 1, "bytes": 0, "most": 0, "multiplier": 2},
{"latency": 1, "energy": 0, "bytes": 0, "most": 6, "multiplier": 0}])");
  EXPECT_THAT(check::check_plan(check::parse_plan_claim(text, "p")).verified,
              testing::Contains(testing::HasSubstr(
                  "less, of those with at most a mean power of 1.2e-12 W and a latency of 6 s")));
  EXPECT_EQ(complaint(text), "");
  EXPECT_THAT(complaint(lie(text, {R"("most": 6)", R"("most": 5.5)"})),
              testing::StartsWith("the plan takes 6 s and 6 pJ, and is to take at most"));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {R"("energy": 1)", R"("energy": 2)"},
           {R"("most": 0)", R"("most": 1)"},
           {R"("latency": -1.2)", R"("latency": 1.2)"},
           {R"("most": 6)", R"("most": -6)"},
           {R"("multiplier": 2)", R"("multiplier": -2)"}}) {
    EXPECT_THAT(complaint(lie(text, {from, to})),
                testing::StartsWith("a limit is neither of latency nor of mean power"))
        << to;
  }
}

TEST(PlanProof, OfAFrameIsRefusedWithAnyLie) {
  EXPECT_EQ(complaint(frame_text()), "");
  for (const auto& [changes, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"\"value\": 5", "\"value\": 4"}, "the plan takes 5, where 4 is claimed"},
           {{"[[0, 0]]", "[[1, 0]]", "\"value\": 5", "\"value\": 6"},
            "another plan takes 5, less than 6"},
           {{"[[0, 0]]", "[[0, 0], [1, 0]]"}, "an operation is in two groups"},
           {{"[[0, 0]]", "[[0.5, 0]]"}, "0.5 is no whole number"},
           {{"\"operations\": 1,", "\"operations\": 1e30,"}, "1e+30 is no whole number"},
           {{"\"engines\": 1", "\"engines\": -1"}, "-1 is no whole number"},
           {{"\"operations\": 1,", "\"operations\": 18446744073709551615,"},
            "an operation is in no group"},
           {{"\"network\": \"", "\"network\": \"\\u001b"}, "a name has control characters"},
           {{"\"network\": \"", "\"network\": \"\\n"}, "a name has control characters"},
           {{"[[0, 0]]", "[]"}, "an operation is in no group"},
           {{"[[0, 0]]", "[[2, 0]]"}, "it runs a group where that does not run"},
           {{"[[0, 0]]", "[[0, 1]]"}, "it runs a group where that does not run"},
           {{"\"reads\": []", "\"reads\": [0]"}, "reads a tensor that is not there"},
           {{"\"reads\": []", "\"reads\": [1]"}, "tensors or places that are not there"},
           {{"\"writes\": []", "\"writes\": [1]"}, "tensors or places that are not there"},
           {{"\"anchor\": 0", "\"anchor\": 1"}, "tensors or places that are not there"},
           {{"\"operations\": [0]", "\"operations\": [1]"}, "tensors or places that are not there"},
           {{"\"operations\": [0]", "\"operations\": []"}, "tensors or places that are not there"},
           {{"3, 2, 0]]", "3, 2, 0], null]"}, "tensors or places that are not there"},
           {{"\"readers\": [0]", "\"readers\": [1]"}, "read by an operation that is not there"},
           // A frame that takes less than nothing, or the time of no engine.
           {{"[[6, 6", "[[6, -6"}, "a group has a price below 0"},
           {{"4, 0]]", "4, 1]]"}, "a group has a price below 0, or of an engine"},
           {{"[null]", "[[0, 0, -1, 0, 0]]"}, "a move has a price below 0"},
           {{"\"engines\": 1", "\"engines\": 2"}, "more engines than places"},
           // Weights that are not those of the objective.
           {{"\"latency\": 1", "\"latency\": 0"}, "weighs other figures"},
           {{"\"energy\": 0", "\"energy\": 1"}, "weighs other figures"},
           {{"\"bytes\": 0}", "\"bytes\": 1}"}, "weighs other figures"},
           {{"\"objective\": \"latency\"", "\"objective\": \"energy\""}, "weighs other figures"},
           {{"\"objective\": \"latency\"", "\"objective\": \"area\""}, "weighs other figures"},
           {{"\"objective\": \"latency\"", "\"objective\": \"throughput\""},
            "a stream has a mix of plans"},
           // Offsets that need more than they must, and a size that calls that the least.
           {{"\"offset\": 8", "\"offset\": 4"}, "share bytes"},
           {{"\"offset\": 8", "\"offset\": -8"}, "no bytes, no place or no time"},
           {{"\"offset\": 8", "\"offset\": 24"}, "another peak than is claimed"},
           {{"\"offset\": 8", "\"offset\": 24", "16, \"alive\": 16", "32, \"alive\": 32"},
            "more or less is alive at once"},
           {{"\"alive\": 16", "\"alive\": 8"}, "more or less is alive at once"}}) {
    EXPECT_THAT(complaint(lie(frame_text(), changes)), testing::HasSubstr(says));
  }
  // With the weights of the other objective another group is the best one.
  EXPECT_EQ(
      complaint(lie(frame_text(), {"\"latency\": 1, \"energy\": 0", "\"latency\": 0, \"energy\": 1",
                                   "\"latency\", \"plan\"", "\"energy\", \"plan\"", "[[0, 0]]",
                                   "[[1, 0]]", "\"value\": 5", "\"value\": 6"})),
      "");
}

TEST(PlanProof, OfAStreamIsRefusedWithAnyLie) {
  EXPECT_EQ(complaint(stream_text()), "");
  const std::string value = "\"value\": 0.5";
  const std::string rate = "\"rate\": 0.5";
  for (const auto& [changes, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{value, "\"value\": 0.6"}, "the rates of the mix have another sum"},
           {{value, "\"value\": 0.4", rate, "\"rate\": 0.4"}, "the duals bound it by 0.5, not by"},
           {{value, "\"value\": 0.6", rate, "\"rate\": 0.6", "[0.5, 0]", "[0.6, 0]"},
            "takes more than there is"},
           {{"[1, 100]", "[1, 1]"}, "takes more than there is"},
           {{"[0.5, 0]", "[0.5, -0.001]"}, "takes more than there is"},
           // Duals of 0 bound nothing: 0 over 0.
           {{value, "\"value\": 0.4", rate, "\"rate\": 0.4", "[0.5, 0]", "[0, 0]"},
            "the duals bound it by"},
           {{"[0.5, 0]", "[0.25, 0]", value, "\"value\": 0.25", rate, "\"rate\": 0.25"},
            "the duals bound it by 0.5"},
           // Of a plan that runs at -0.4 the other one may use what it gives back.
           {{value, "\"value\": 0.9", rate + ", \"plan\": [[0, 0]]}",
             "\"rate\": 1.3, \"plan\": [[0, 0]]}, {\"rate\": -0.4, \"plan\": [[1, 0]]}", "[0.5, 0]",
             "[0.9, 0]"},
            "a rate below 0"},
           // Capacities that are not named limit nothing.
           {{"[1, 100]", "[]", value, "\"value\": 5", rate, "\"rate\": 5"},
            "a capacity and a dual of every engine"},
           {{"[1, 100]", "[1]", "[0.5, 0]", "[0.5]"}, "a capacity and a dual of every engine"},
           {{"[1, 100]", "[1, 100, 1e9, 1]", "[0.5, 0]", "[0.5, 0, 0, 0]"},
            "a capacity and a dual of every engine"},
           {{"[0.5, 0]", "[0.5, 0, 0]"}, "a capacity and a dual of every engine"},
           {{"\"mix\": [{\"rate\": 0.5, \"plan\": [[0, 0]]}]", "\"mix\": []"},
            "a stream has a mix of plans"},
           {{"\"plan\": [[0, 0]]", "\"plan\": []"}, "the mix has a plan that is not one"},
           {{"\"objective\": \"throughput\"", "\"objective\": \"latency\""}, "a frame has none"}}) {
    EXPECT_THAT(complaint(lie(stream_text(), changes)), testing::HasSubstr(says));
  }
  // A limit of power: 7 pJ of a frame are the third row.
  const std::vector<std::string> limited{
      "[1, 100]", "[1, 100, 2.8]",  "[0.5, 0]", "[0, 0, 0.142857142857142857]",
      value,      "\"value\": 0.4", rate,       "\"rate\": 0.4"};
  EXPECT_THAT(complaint(lie(stream_text(), limited)), testing::HasSubstr("the duals bound it by"));
}

TEST(PlanProof, FindsTensorsThatShareBytes) {
  check::PlanClaim claim = claim_of(random_plan_problem(1));
  claim.buffers = {{8, 0, 0, 2}, {8, 8, 1, 3}, {8, 0, 3, 4}};
  claim.peak = 16;
  claim.alive = 16;
  const auto shares = [](const check::PlanClaim& each) {
    const auto verdict = check::check_plan(each);
    return std::count(verdict.problems.begin(), verdict.problems.end(),
                      "two tensors that are alive at once share bytes");
  };
  EXPECT_EQ(shares(claim), 0);
  claim.buffers[1].offset = 4;
  EXPECT_EQ(shares(claim), 2);  // with the one in front and the one behind
  claim.buffers[1].offset = 16;
  EXPECT_EQ(shares(claim), 0);
}

}  // namespace
}  // namespace mapsim::plan_proof_test
