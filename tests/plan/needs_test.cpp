// SPDX-License-Identifier: Apache-2.0
// Plans under a limit on memory, beside all plans.
#include "plan/needs.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/plan_needs.hpp"
#include "plan/plan.hpp"
#include "plan/priced.hpp"
#include "tests/plan/plan_claim.hpp"
#include "tests/plan/random_plan.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::needs_test {
namespace {

constexpr std::size_t kLabels = 1'000'000;
const Weights kLatency{1, 0, 0, {}};
const Weights kEnergy{0, 1, 0, {}};

// Every plan: which group covers the first operation that none covers, and where it runs.
void for_each_plan(const PlanProblem& problem,
                   const std::function<void(const std::vector<PlanStep>&)>& look) {
  std::vector<bool> covered(problem.operations);
  std::vector<PlanStep> steps;
  const std::function<void()> cover = [&] {
    const auto at = std::find(covered.begin(), covered.end(), false);
    if (at == covered.end()) {
      std::vector<PlanStep> sorted = steps;
      std::sort(sorted.begin(), sorted.end(), [&](const PlanStep& a, const PlanStep& b) {
        return problem.choices[a.choice].anchor < problem.choices[b.choice].anchor;
      });
      look(sorted);
      return;
    }
    const auto first = static_cast<std::size_t>(at - covered.begin());
    for (std::size_t c = 0; c < problem.choices.size(); ++c) {
      const auto& all = problem.choices[c].operations;
      if (std::find(all.begin(), all.end(), first) == all.end() ||
          std::any_of(all.begin(), all.end(), [&](std::size_t i) { return covered[i]; })) {
        continue;
      }
      for (const std::size_t i : all) {
        covered[i] = true;
      }
      for (std::size_t p = 0; p < problem.places; ++p) {
        if (problem.choices[c].on[p]) {
          steps.push_back({c, p});
          cover();
          steps.pop_back();
        }
      }
      for (const std::size_t i : all) {
        covered[i] = false;
      }
    }
  };
  cover();
}

// The most that tensors need at any step of a plan, which has its moves.
double most_needed(const PlanProblem& problem, const std::vector<PlanStep>& steps) {
  double most = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    std::set<std::size_t> alive;
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
      const auto uses = [&](std::size_t step, auto list) {
        const auto& all = problem.choices[steps[step].choice].*list;
        return std::find(all.begin(), all.end(), t) != all.end();
      };
      bool made = false, read = false;
      for (std::size_t j = 0; j < steps.size(); ++j) {
        made = made || (j <= k && uses(j, &PlanProblem::Choice::writes));
        read = read || (j >= k && uses(j, &PlanProblem::Choice::reads));
      }
      if ((made && read) || uses(k, &PlanProblem::Choice::writes)) {
        alive.insert(t);
      }
    }
    double sum = 0;
    for (const std::size_t t : alive) {
      bool is_part = false;
      for (auto whole = problem.tensors[t].whole; whole; whole = problem.tensors[*whole].whole) {
        is_part = is_part || alive.contains(*whole);
      }
      sum += is_part ? 0 : problem.tensors[t].least;
    }
    const std::vector<double>& inputs = problem.choices[steps[k].choice].inputs;
    sum += inputs.empty() ? 0 : inputs[steps[k].engine];
    for (const PlanMove& move : steps[k].moves) {
      bool is_copied = !problem.tensors[move.tensor].whole;  // all ways there convert
      for (const PlanProblem::Tensor& part : problem.tensors) {
        is_copied = is_copied && part.whole != move.tensor;
      }
      for (std::size_t from = 0; from < problem.places; ++from) {
        const auto& way = problem.tensors[move.tensor].moves[from * problem.places + move.to];
        is_copied = is_copied && (from == move.to || !way || way->engine);
      }
      sum += is_copied ? problem.tensors[move.tensor].least : 0;
    }
    most = std::max(most, sum);
  }
  return most;
}

// The least value of all plans that need no more, and of those the least tie.
std::optional<Value> best_within(const PlanProblem& problem, const Weights& weights,
                                 const Weights& ties, double most) {
  std::optional<Value> best;
  for_each_plan(problem, [&](std::vector<PlanStep> steps) {
    const auto value = walk(problem, weights, steps, ties);
    if (value && most_needed(problem, steps) <= most) {
      const Value both{*value, ties.of(plan_of(problem, steps).total)};
      best = best ? std::min(*best, both) : both;
    }
  });
  return best;
}

// Sizes, and some tensors that are parts of later ones; then a limit that some plans keep.
PlanProblem random_limited_problem(std::uint64_t seed) {
  PlanProblem problem = random_plan_problem(seed);
  Rng rng{seed ^ 0xb17e5};
  for (PlanProblem::Tensor& tensor : problem.tensors) {  // some moves only wait
    for (auto& move : tensor.moves) {
      if (move && rng.below(4) == 0) {
        move->engine = std::nullopt;
      }
    }
  }
  for (PlanProblem::Choice& choice : problem.choices) {
    for (std::size_t p = 0; p < problem.places; ++p) {
      choice.inputs.push_back(rng.below(4) == 0 ? static_cast<double>(rng.between(0, 16)) / 8 : 0);
    }
  }
  for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
    PlanProblem::Tensor& tensor = problem.tensors[t];
    tensor.least += static_cast<double>(rng.between(0, 20)) / 8;
    if (rng.below(3) == 0 && t + 1 < problem.tensors.size()) {
      tensor.whole = t + 1 + rng.below(problem.tensors.size() - t - 1);
      problem.tensors[*tensor.whole].least += tensor.least;
    }
  }
  set_copies(problem);
  std::vector<double> needs;
  for_each_plan(problem, [&](std::vector<PlanStep> steps) {
    if (walk(problem, kLatency, steps, kEnergy)) {
      needs.push_back(most_needed(problem, steps));
    }
  });
  problem.most_least = needs.empty() ? 0 : needs[rng.below(needs.size())];
  problem.most_least = std::max(0., *problem.most_least - (rng.below(4) == 0 ? 0.125 : 0));
  return problem;
}

check::PlanClaim claim_of(const PlanProblem& problem, const PlanPath& path, const Weights& weights,
                          const Weights& ties) {
  check::PlanClaim claim = mapsim::claim_of(problem);
  claim.objective = weights.energy > 0 ? "energy" : "latency";
  claim.weights = {weights.latency, weights.energy, 0, {}};
  claim.ties = {ties.latency, ties.energy, 0, {}};
  claim.value = path.value;
  claim.tie = path.tie;
  for (const PlanStep& step : path.steps) {
    claim.plan.emplace_back(step.choice, step.engine);
  }
  claim.memory_limit.emplace();
  claim.memory_limit->most = *problem.most_least;
  claim.memory_limit->bound = path.value;
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    claim.memory_limit->least.push_back(tensor.least);
    claim.memory_limit->whole.push_back(tensor.whole);
  }
  for (const PlanProblem::Choice& choice : problem.choices) {
    claim.memory_limit->inputs.push_back(choice.inputs);
  }
  const double needed = most_needed(problem, path.steps);
  claim.buffers = {{needed, 0, 0, path.steps.size()}};
  claim.peak = claim.alive = needed;
  return claim;
}

TEST(Needs, LeaveTheBestOfAllPlansThatKeepThem) {
  int found = 0, dearer = 0, impossible = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const PlanProblem problem = random_limited_problem(seed);
    const auto& [weights, ties] =
        seed % 2 == 0 ? std::pair{kLatency, kEnergy} : std::pair{kEnergy, kLatency};
    const auto wanted = best_within(problem, weights, ties, *problem.most_least);
    const auto path = shortest_path(problem, weights, ties);
    ASSERT_EQ(path.has_value(), wanted.has_value()) << seed;
    if (!path) {
      ++impossible;
      continue;
    }
    EXPECT_EQ(path->value, wanted->first) << seed;
    EXPECT_EQ(path->tie, wanted->second) << seed;
    EXPECT_LE(most_needed(problem, path->steps), *problem.most_least) << seed;
    ++found;
    PlanProblem free = problem;
    free.most_least = std::nullopt;
    const auto best = shortest_path(free, weights, ties);
    check::PlanClaim claim = claim_of(problem, *path, weights, ties);
    EXPECT_EQ(check::most_needed(claim), most_needed(problem, path->steps)) << seed;
    const check::PlanVerdict verdict = check::check_plan(claim);
    EXPECT_THAT(verdict.problems, testing::IsEmpty()) << seed;
    EXPECT_THAT(verdict.verified,
                testing::Contains(testing::HasSubstr("takes less, of those with")));
    // A bound below it is as true, one above is not.
    claim.memory_limit->bound = path->value / 2;
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    claim.memory_limit->bound = path->value + 1;
    EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
    if (best->value < path->value) {
      ++dearer;
      // With the limit left out, or with more memory, another plan is better.
      check::PlanClaim lie = claim_of(problem, *path, weights, ties);
      lie.memory_limit->most = 1e9;
      EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
      lie.memory_limit = std::nullopt;
      EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
      // And that other plan does not keep the limit, whatever its buffers say.
      lie = claim_of(problem, *best, weights, ties);
      EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
      lie.peak = lie.alive = lie.buffers[0].bytes = *problem.most_least;
      EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
    }
  }
  EXPECT_GT(found, 250);
  EXPECT_GT(dearer, 40);
  EXPECT_GT(impossible, 10);
}

// Every number changed, one at a time: refused, or what it says is true.
TEST(Needs, AreRefusedOrTrueWhereDamaged) {
  int problems = 0;
  Damaged damaged;
  for (std::uint64_t seed = 1; problems < 12; ++seed) {
    const PlanProblem problem = random_limited_problem(seed);
    const auto path = problem.operations > 4 || problem.places > 2
                          ? std::nullopt
                          : shortest_path(problem, kLatency, kEnergy);
    if (!path) {
      continue;
    }
    ++problems;
    const check::PlanClaim claim = claim_of(problem, *path, kLatency, kEnergy);
    for_each_accepted_damage(
        claim, damaged,
        [&](const check::PlanClaim& changed, const check::PlanVerdict& verdict,
            const std::string& what) {
          const bool is_proven =
              std::any_of(verdict.verified.begin(), verdict.verified.end(), [](const auto& said) {
                return said.find("no plan of these groups") != std::string::npos;
              });
          const PlanProblem other = problem_of(changed);
          std::vector<PlanStep> steps;
          for (const auto& [choice, place] : changed.plan) {
            steps.push_back({choice, place});
          }
          const Weights weights{changed.weights.latency, changed.weights.energy, 0, {}};
          const double most = changed.memory_limit->most;
          const auto value = walk(other, weights, steps, kEnergy);
          ASSERT_TRUE(value) << seed << ' ' << what;
          EXPECT_NEAR(*value, changed.value, 1e-6) << seed << ' ' << what;
          EXPECT_LE(most_needed(other, steps), most) << seed << ' ' << what;
          const auto best = best_within(other, weights, kEnergy, most);
          EXPECT_TRUE(!is_proven || (best && best->first >= changed.memory_limit->bound - 1e-6))
              << seed << ' ' << what;
        });
  }
  EXPECT_GT(damaged.refused, 500);
  EXPECT_GT(damaged.unreadable, 1000);
  EXPECT_GT(damaged.accepted, 500);
}

// A chip whose engines may have layouts of their own (one pads channels), and a network with
// siblings, which make more at once than one after the other, a concat, and a tensor that is read
// later, too.
struct Case {
  Soc soc;
  Network network;
};
Case small_case(const std::string& reformat) {
  const std::string soc =
      "name: chip\nsoc:\n"
      "  memory: {bandwidth: 16 GB/s, capacity: 1 GB, energy: {read: 100 pJ/B, write: 100 pJ/B}}\n"
      "  engines:\n"
      "    - {name: small, arch: nv_small, overhead: 1 us, formats: [linear]}\n"
      "    - {name: large, arch: nv_large, overhead: 2 us, formats: [" +
      reformat +
      "], operators: [Conv, Gemm, Concat]}\n"
      "  transitions:\n"
      "    - {from: small, to: large, sync: 1 us, reformat: small}\n"
      "    - {from: large, to: small, sync: 1 us, reformat: small}\n";
  const std::string network =
      "name: n\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs: {x: {shape: [1, 8, 12, 12]}}\ngraph:\n"
      "  - {name: a, conv2d: {out_channels: 16, kernel: 3, padding: 1}, in: x}\n"
      "  - {name: b, conv2d: {out_channels: 48, kernel: 1}, in: a}\n"
      "  - {name: p, op: MaxPool, kernel: 2, stride: 2, in: b}\n"
      "  - {name: c, conv2d: {out_channels: 40, kernel: 1}, in: a}\n"
      "  - {name: q, op: MaxPool, kernel: 2, stride: 2, in: c}\n"
      "  - {name: d, op: Concat, in: [p, q]}\n"
      "  - {name: e, conv2d: {out_channels: 88, kernel: 1}, in: d}\n"
      "  - {name: f, op: Add, in: [e, d]}\n";
  const std::string configs = source_path("configs");
  return {read_soc(parse_yaml(soc, "chip.yaml"), {configs}), parse_network(network, "n.yaml")};
}

// A group that reads a concat and a part of it, both converted for it, has one buffer for both.
Case residual_case() {
  const std::string soc =
      "name: chip\nsoc:\n"
      "  memory: {bandwidth: 64 GB/s, capacity: 1 GB, energy: {read: 100 pJ/B, write: 100 pJ/B}}\n"
      "  engines:\n"
      "    - {name: small, arch: nv_small, overhead: 2 us, formats: [chw32]}\n"
      "    - {name: large, arch: nv_large, overhead: 3 us, formats: [linear],\n"
      "       operators: [Conv, Gemm, Add]}\n"
      "  transitions:\n"
      "    - {from: small, to: large, sync: 0.1 us, reformat: small}\n"
      "    - {from: large, to: small, sync: 0.1 us, reformat: small}\n";
  const std::string network =
      "name: n\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs: {x: {shape: [1, 64, 6, 6]}}\ngraph:\n"
      "  - {name: a, op: MaxPool, kernel: 3, stride: 1, padding: 1, in: x}\n"
      "  - {name: b, op: AveragePool, kernel: 3, stride: 1, padding: 1, in: x}\n"
      "  - {name: c, op: Concat, in: [b, a]}\n"
      "  - {name: d, conv2d: {out_channels: 64, kernel: 3, padding: 1}, in: c}\n"
      "  - {name: e, op: Add, in: [d, a]}\n"
      "  - {name: f, op: MaxPool, kernel: 2, stride: 2, in: c}\n"
      "  - {name: g, conv2d: {out_channels: 160, kernel: 1}, in: e}\n"
      "  - {name: h, op: MaxPool, kernel: 2, stride: 2, in: g}\n"
      "  - {name: i, conv2d: {out_channels: 160, kernel: 1}, in: e}\n";
  const std::string configs = source_path("configs");
  return {read_soc(parse_yaml(soc, "chip.yaml"), {configs}), parse_network(network, "n.yaml")};
}

// The lemma of check/plan_needs.hpp on every plan; then what is found within limits, and its proof.
TEST(Needs, AreNoMoreThanAnyPlanTakes) {
  int limited = 0, proven = 0, gaps = 0, none = 0;
  for (const auto& [soc, network] : {small_case("linear"), small_case("chw32"), residual_case()}) {
    for (const PlanObjective objective : {PlanObjective::kLatency, PlanObjective::kEnergy}) {
      PlanOptions options;
      options.objective = objective;
      const PlanAnswer answer = make_plan(soc, network, options, "chip.yaml", "n.yaml");
      const Weights weights = weights_of(objective);
      struct Seen {
        double value, peak;
      };
      std::vector<Seen> plans;
      std::set<double> peaks;
      for_each_plan(answer.problem, [&](std::vector<PlanStep> steps) {
        const auto value = walk(answer.problem, weights, steps, ties_of(objective));
        if (!value) {
          return;
        }
        const Plan plan = plan_of(answer.problem, steps, &answer.prices);
        const MemoryMap map =
            place(buffers_of(answer.versions, answer.places, answer.groups, plan.groups));
        ASSERT_LE(most_needed(answer.problem, steps), static_cast<double>(map.bound));
        plans.push_back({*value, static_cast<double>(map.peak)});
        peaks.insert(plans.back().peak);
      });
      EXPECT_GT(plans.size(), 100U);
      for (const double most : peaks) {
        options.max_memory = most - 1;
        double best = 1e300;
        for (const Seen& each : plans) {
          best = each.peak <= most - 1 ? std::min(best, each.value) : best;
        }
        const PlanAnswer found = make_plan(soc, network, options, "chip.yaml", "n.yaml");
        const double value = weights.of(found.plan.total);
        if (!found.misfit.empty()) {
          ++none;
          continue;
        }
        EXPECT_LE(static_cast<double>(found.memory.peak), most - 1);
        EXPECT_LE(found.bound, best * (1 + 1e-9)) << most;
        EXPECT_GE(value, best * (1 - 1e-9)) << most;
        limited += found.is_within_memory ? 1 : 0;
        ASSERT_TRUE(has_certificate(options, found));
        const check::PlanVerdict verdict = check::check_plan(
            check::parse_plan_claim(plan_certificate(soc, network, options, found), "proof"));
        EXPECT_THAT(verdict.problems, testing::IsEmpty()) << most;
        if (found.bound >= value * (1 - 1e-9)) {
          EXPECT_NEAR(value, best, best * 1e-9) << most;
          proven += found.is_within_memory ? 1 : 0;
        } else {
          ++gaps;
        }
      }
    }
  }
  EXPECT_GT(limited, 20);
  EXPECT_GT(proven, 10);
  EXPECT_GT(gaps, 5);
  EXPECT_GT(none, 3);
}

}  // namespace
}  // namespace mapsim::needs_test
