// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <ctime>
#include <regex>
#include <set>
#include <string>

#include "core/diagnostic.hpp"
#include "plan/throughput.hpp"
#include "report/chart.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::plan_test {
namespace {

using ::testing::HasSubstr;

const std::string kConfigs = source_path("configs");

// A small engine that runs all, a large one that multiplies only; `sync` of a transition.
Soc chip(const std::string& sync, const std::string& transitions_to = "large") {
  const std::string text =
      "name: chip\nsoc:\n"
      "  memory: {bandwidth: 16 GB/s, capacity: 1 GB, energy: {read: 100 pJ/B, write: 100 pJ/B}}\n"
      "  engines:\n"
      "    - {name: small, arch: nv_small, overhead: 1 us, formats: [linear]}\n"
      "    - {name: large, arch: nv_large, overhead: 2 us, formats: [tiled], operators: "
      "[Conv, Gemm]}\n"
      "  transitions:\n"
      "    - {from: small, to: " +
      transitions_to + ", sync: " + sync + ", reformat: small}\n" +
      (transitions_to == "large"
           ? "    - {from: large, to: small, sync: " + sync + ", reformat: small}\n"
           : "");
  return read_soc(parse_yaml(text, "chip.yaml"), {kConfigs});
}

Network network(const std::string& nodes) {
  return parse_network(
      "name: n\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs: {x: {shape: [1, 32, 14, 14]}}\ngraph:\n" +
          nodes,
      "n.yaml");
}

const std::string kNodes =
    "  - {name: a, conv2d: {out_channels: 64, kernel: 3, padding: 1}, in: x, epilogue: [relu]}\n"
    "  - {name: p, op: MaxPool, kernel: 2, stride: 2, in: a}\n"
    "  - {name: b, conv2d: {out_channels: 64, kernel: 3, padding: 1}, in: p, epilogue: [relu]}\n"
    "  - {name: c, conv2d: {out_channels: 64, kernel: 3, padding: 1}, in: p, epilogue: [relu]}\n"
    "  - {name: d, op: Concat, in: [b, c]}\n"
    "  - {name: e, conv2d: {out_channels: 64, kernel: 1}, in: d}\n"
    "  - {name: f, op: Add, in: [e, b], epilogue: [relu]}\n";

PlanAnswer planned(const Soc& soc, const Network& of, PlanOptions options = {}) {
  return make_plan(soc, of, options, "chip.yaml", "n.yaml");
}

// The weights of a network and the tensors that are alive at once share the chip's memory.
TEST(Plan, FitsIntoTheMemoryOfItsChip) {
  Soc soc = chip("1 us");
  const Network of = network(kNodes);
  const PlanAnswer plan = planned(soc, of);
  EXPECT_EQ(plan.weights, 64 * 32 * 9 + 64 * 64 * 9 * 2 + 64 * 128);  // of a, b and c, e: 8 b each
  const Bits needed{8 * (plan.weights + plan.memory.peak)};
  soc.memory.capacity = needed;
  EXPECT_EQ(planned(soc, of).misfit, "");
  EXPECT_FALSE(planned(soc, of).is_limited);
  // With less another plan is the best that fits, as if its tensors had been limited.
  PlanOptions options;
  options.max_memory = static_cast<double>(plan.memory.peak - 1);
  const PlanAnswer smaller = planned(soc, of, options);
  soc.memory.capacity = needed - Bits{8};
  const PlanAnswer limited = planned(soc, of);
  EXPECT_TRUE(limited.is_limited);
  EXPECT_EQ(limited.misfit.empty(), smaller.misfit.empty());
  EXPECT_EQ(limited.plan.total.latency, smaller.plan.total.latency);
  soc.memory.capacity = Bits{8 * plan.weights};
  EXPECT_THAT(planned(soc, of).misfit, testing::MatchesRegex("weights take .*; the memory of chip "
                                                             "has .*"));
}

// The chip's limit on power, and one that is asked for.
TEST(Plan, KeepsLimitsOnItsMeanPower) {
  Soc soc = chip("1 us");
  const Network of = network(kNodes);
  const auto watts = [](const Load& load) { return load.energy / 1e12 / load.latency; };
  PlanOptions options;
  options.front = true;
  const PlanAnswer best = planned(soc, of, options);
  EXPECT_TRUE(best.limits.empty());
  EXPECT_THAT(plan_text(soc, of, options, best), testing::Not(HasSubstr("mean power")));
  const double cheapest = watts(best.front.back().total);
  ASSERT_LT(cheapest, watts(best.plan.total));
  const double most = (cheapest + watts(best.plan.total)) / 2;
  options.max_power = most;
  const PlanAnswer asked = planned(soc, of, options);
  EXPECT_EQ(asked.misfit, "");
  EXPECT_LE(watts(asked.plan.total), most);
  EXPECT_GT(asked.plan.total.latency, best.plan.total.latency);
  EXPECT_THAT(plan_text(soc, of, options, asked), HasSubstr("; --max-power allows "));
  soc.power = Milliwatts{most * 1000};
  for (const bool both : {false, true}) {
    options.max_power = both ? std::optional{2 * most} : std::nullopt;
    const PlanAnswer limited = planned(soc, of, options);
    EXPECT_EQ(limited.plan.total, asked.plan.total);
    EXPECT_THAT(plan_text(soc, of, options, limited), HasSubstr("; chip allows "));
  }
  // The plan of least energy may take too much power, too.
  options.objective = PlanObjective::kEnergy;
  options.max_power = cheapest * 0.999;
  const PlanAnswer none = planned(soc, of, options);
  if (none.misfit.empty()) {
    EXPECT_LE(watts(none.plan.total), *options.max_power);
  } else {
    EXPECT_THAT(none.misfit, HasSubstr("the least mean power of all plans is "));
  }
  soc.power = Milliwatts{1e-3};
  PlanOptions at_once;
  at_once.at_once = true;
  EXPECT_THAT(plan_text(soc, of, at_once, planned(soc, of, at_once)),
              HasSubstr("W, more than the 1.000 uW that chip allows: engines at once are not "));
  EXPECT_THAT(planned(soc, of, options).misfit,
              testing::MatchesRegex("the least mean power of all plans is .*W, where chip allows "
                                    "1.000 uW"));
}

// Another plan fits where the best one does not.
TEST(Plan, TakesTheBestThatFitsIntoTheMemory) {
  Soc soc = load_soc(kConfigs + "/soc/teaching_chip.yaml", {kConfigs});
  const Network squeezenet = load_network(kConfigs + "/networks/graphs/squeezenet.yaml");
  PlanOptions options;
  options.objective = PlanObjective::kEnergy;
  const PlanAnswer best = planned(soc, squeezenet, options);
  soc.memory.capacity = Bits{8 * (best.weights + best.memory.peak - 1)};
  const PlanAnswer fitting = planned(soc, squeezenet, options);
  EXPECT_TRUE(fitting.is_limited);
  EXPECT_EQ(fitting.misfit, "");
  EXPECT_LT(fitting.memory.peak, best.memory.peak);
  EXPECT_GT(fitting.plan.total.energy, best.plan.total.energy);
}

TEST(Plan, IsGivenUpWhenItsFlagIsSet) {
  const std::atomic<bool> set{true};
  const std::atomic<bool> clear{false};
  PlanOptions options;
  const Network of = network(kNodes);
  for (const Soc& soc :
       {chip("1 us"), load_soc(kConfigs + "/soc/jetson_agx_orin.yaml", {kConfigs})}) {
    options.stop = &clear;
    EXPECT_TRUE(planned(soc, of, options).misfit.empty());
    options.stop = &set;
    EXPECT_THROW(planned(soc, of, options), PlanStopped);
    EXPECT_THROW(make_stream(soc, std::vector(soc.engines.size(), &of),
                             std::vector<std::int64_t>(soc.engines.size(), 1), options, "chip.yaml",
                             "n.yaml"),
                 PlanStopped);
  }
}

// With little memory layers are searched on a part of their tiles: prices are no less than the
// least, and no more above it than is said.
TEST(Plan, SaysHowFarPricesAreAboveTheLeastWhereMemoryIsShort) {
  const Soc soc = load_soc(kConfigs + "/arch/eyeriss.yaml", {kConfigs});
  const Network of = network(kNodes);
  PlanOptions options;
  for (const PlanObjective objective : {PlanObjective::kLatency, PlanObjective::kEnergy}) {
    options.objective = objective;
    options.bytes = PlanOptions{}.bytes;
    const PlanAnswer least = planned(soc, of, options);
    EXPECT_EQ(least.searches.ended_early, 0);
    EXPECT_GT(least.searches.peak_bytes, 1'000U);
    EXPECT_TRUE(least.proven);
    options.bytes = 100;
    const PlanAnswer found = planned(soc, of, options);
    EXPECT_LE(found.searches.peak_bytes, 100U);
    const bool is_short = found.searches.ended_early > 0;
    EXPECT_EQ(is_short, objective == PlanObjective::kEnergy) << "latencies need no tables here";
    EXPECT_EQ(found.proven, !is_short && found.searches.plans.ended_early == 0);
    EXPECT_EQ(plan_text(soc, of, options, found).find("searches of layers ended early (--memory") !=
                  std::string::npos,
              is_short);
    const auto value = [&](const PlanAnswer& answer) {
      return objective == PlanObjective::kEnergy ? answer.plan.total.energy
                                                 : answer.plan.total.latency;
    };
    EXPECT_GE(value(found), value(least) * (1 - 1e-9));
    EXPECT_LE(found.bound * found.searches.least_share, value(least) * (1 + 1e-9));
  }
}

// Kernels of GPUs are ranked without a bound.
TEST(Plan, SaysThatPricesMayBeAboveTheLeastWhereTimeIsShortForKernels) {
  const Soc soc = load_soc(kConfigs + "/soc/jetson_agx_orin.yaml", {kConfigs});
  const Network of = network(kNodes);
  PlanOptions options;
  const PlanAnswer least = planned(soc, of, options);
  EXPECT_EQ(least.searches.ended_early, 0);
  options.seconds = 0;
  const PlanAnswer found = planned(soc, of, options);
  EXPECT_GT(found.searches.ended_early, 0);
  EXPECT_EQ(found.searches.least_share, 0);
  EXPECT_FALSE(found.proven);
  EXPECT_THAT(plan_text(soc, of, options, found),
              HasSubstr("above the least by an amount that is not known"));
}

// 162 searches of layers for each of six chips, and those for plans.
TEST(Plan, HasOneBudget) {
  const std::string file = kConfigs + "/soc/jetson_agx_orin.yaml";
  const Soc soc = load_soc(file, {kConfigs});
  const Network of = load_network(kConfigs + "/networks/graphs/googlenet.yaml");
  PlanOptions options;
  options.seconds = 0.2;
  options.what_if = true;
  const std::clock_t before = std::clock();
  const PlanAnswer found = make_plan(soc, of, options, file, "googlenet.yaml");
  EXPECT_GT(found.searches.count, 150);
  EXPECT_GT(found.searches.ended_early, 0);
  EXPECT_GT(found.plan.total.latency, 0);
  options.seconds = 0.1;
  EXPECT_LT(what_if(soc, of, options, file, "googlenet.yaml").size(), count_what_ifs(soc));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kSanitized ? 10 : 0.8);
  EXPECT_THAT(plan_text(soc, of, options, found), HasSubstr("time was over (--budget) for 5"));
}

// Every fill has a dark twin, or words on it could not be read on a dark screen.
TEST(PlanPage, HasNoColourWithoutADarkOne) {
  const Soc soc = chip("1 us");
  const Network of = network(kNodes);
  const std::string page = plan_page(soc, of, {}, planned(soc, of));
  std::set<std::string> known{"none"};
  for (const Paint& paint : paints()) {
    known.insert(std::string{paint.light});
  }
  const std::regex fill{R"re((fill|stroke)="([^"]*)")re"};
  std::set<std::string> used;
  for (std::sregex_iterator it{page.begin(), page.end(), fill}, end; it != end; ++it) {
    used.insert((*it)[2]);
  }
  EXPECT_GT(used.size(), 4U);
  EXPECT_THAT(used, ::testing::Each(::testing::AnyOfArray(known)));
}

TEST(Plan, TakesNoLongerWithMoreFusion) {
  const Network of = network(kNodes);
  const PlanAnswer answer = planned(chip("1 us"), of);
  ASSERT_EQ(answer.passes.size(), kFusions);
  for (std::size_t i = 1; i < kFusions; ++i) {
    EXPECT_LT(answer.passes[i].total.latency, answer.passes[i - 1].total.latency);
  }
}

TEST(Plan, IsNoWorseThanOneEngineOrTheBestOfEachGroup) {
  const Network of = network(kNodes);
  for (const char* sync : {"1 us", "20 us", "400 us"}) {
    const PlanAnswer answer = planned(chip(sync), of);
    EXPECT_LE(answer.plan.total.latency, answer.alone[0].total->latency) << sync;
    EXPECT_FALSE(answer.alone[1].total);
    EXPECT_THAT(answer.alone[1].problem, HasSubstr("large has no MaxPool"));
    EXPECT_LE(answer.plan.total.latency, answer.greedy->latency) << sync;
  }
}

TEST(Plan, StaysOnOneEngineWhereTransitionsAreSlow) {
  const Network of = network(kNodes);
  EXPECT_GT(planned(chip("1 us"), of).plan.busy[1], 0);
  EXPECT_EQ(planned(chip("10 ms"), of).plan.busy[1], 0);
}

TEST(Plan, AddsUpToItsTotal) {
  const Network of = network(kNodes);
  const PlanAnswer answer = planned(chip("5 us"), of);
  double end = 0;
  double bytes = 0;
  for (const PlannedGroup& group : answer.plan.groups) {
    for (const PlannedMove& move : group.moves) {
      EXPECT_DOUBLE_EQ(move.start, end);
      end += move.load.latency;
      bytes += move.load.bytes;
    }
    EXPECT_DOUBLE_EQ(group.start, end);
    end += group.price.load.latency;
    bytes += group.price.load.bytes;
  }
  EXPECT_DOUBLE_EQ(answer.plan.total.latency, end);
  EXPECT_DOUBLE_EQ(answer.plan.total.bytes, bytes);
}

TEST(Plan, NeedsLeastEnergyWhereThatIsAsked) {
  const Network of = network(kNodes);
  PlanOptions options;
  options.objective = PlanObjective::kEnergy;
  const double least = planned(chip("1 us"), of, options).plan.total.energy;
  EXPECT_LT(least, planned(chip("1 us"), of).plan.total.energy);
}

TEST(Plan, SaysWhatRunsNowhere) {
  Soc soc = chip("1 us");
  soc.engines.erase(soc.engines.begin());
  soc.transitions.clear();
  const Network of = network(kNodes);
  try {
    planned(soc, of);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "n.yaml: node p: MaxPool runs on no engine of chip (large: large has no MaxPool)");
  }
}

TEST(Plan, SaysWhereNoTransitionLeadsTo) {
  Soc soc = chip("1 us");
  soc.engines[0].operators = {"MaxPool", "Concat", "Add"};
  soc.transitions.pop_back();  // from large to small
  const Network of = network(kNodes);
  for (const bool is_stream : {false, true}) {
    try {
      if (is_stream) {
        make_stream(soc, {&of, &of}, {1, 1}, {}, "chip.yaml", "n.yaml");
      } else {
        planned(soc, of);
      }
      FAIL();
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(),
                   "chip.yaml:8:5: soc.transitions: no plan of n: a makes a on large, p reads it "
                   "on small, and no transition leads there");
    }
  }
}

TEST(Plan, HasNoPriceForWhatNobodyKnows) {
  const Network of = network(
      kNodes +
      "  - {name: g, op: NonMaxSuppression, in: f, shape: [1, 64, 7, 7], unpriced: true}\n");
  const PlanAnswer answer = planned(chip("1 us"), of);
  ASSERT_EQ(answer.unpriced.size(), 1U);
  EXPECT_EQ(answer.unpriced[0], "g (NonMaxSuppression)");
  EXPECT_FALSE(answer.proven);
  EXPECT_THAT(plan_text(chip("1 us"), of, {}, answer),
              testing::ContainsRegex("\n  at least .*s; at least .*J a frame; at most [0-9,]* "
                                     "frames/s, .*; at least .*B through memory\n"));
}

TEST(Plan, IsRefusedWhereNothingHasAPrice) {
  const Network of = network("  - {name: flat, op: Flatten, in: x}\n");
  const Soc soc = chip("1 us");
  for (const bool is_stream : {false, true}) {
    try {
      if (is_stream) {
        make_stream(soc, {&of, &of}, {1, 1}, {}, "chip.yaml", "n.yaml");
      } else {
        planned(soc, of);
      }
      FAIL();
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), "n.yaml: no node has a price: there is nothing to plan");
    }
  }
}

TEST(Plan, ExplainsANode) {
  const Network of = network(kNodes);
  PlanOptions options;
  options.why = "b";
  const Soc soc = chip("1 us");
  const std::string text = plan_text(soc, of, options, planned(soc, of, options));
  EXPECT_THAT(text, HasSubstr("why b:\n  b: relu: applied"));
  EXPECT_THAT(text, HasSubstr("b | c: the same kernel on the same input, p\n"));
  EXPECT_THAT(text, HasSubstr("<- the plan"));
  EXPECT_THAT(text, HasSubstr("no operator is fused to its output: 2 operations read b"));
}

}  // namespace
}  // namespace mapsim::plan_test
