// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "plan/plan.hpp"
#include "plan/soc.hpp"
#include "plan/throughput.hpp"
#include "tests/support/build_paths.hpp"

// Signs of docs/validation.md, Plans of networks on chips, on what is shipped.

namespace mapsim::signs_test {
namespace {

const std::string kConfigs = source_path("configs");

Soc orin(double share_of_bandwidth = 1) {
  const std::string file = kConfigs + "/soc/jetson_agx_orin.yaml";
  Document document = read_yaml(file);
  for (Entry& entry : document.root.entries) {
    if (entry.key.text != "soc") {
      continue;
    }
    for (Entry& memory : entry.value.entries.front().value.entries) {
      if (memory.key.text == "bandwidth" && share_of_bandwidth < 1) {
        memory.value.text = std::to_string(204.8 * share_of_bandwidth) + " GB/s";
      }
    }
  }
  return read_soc(document, {kConfigs});
}

Network shipped(const std::string& name) {
  return load_network(kConfigs + "/networks/graphs/" + name + ".yaml", {kConfigs});
}

TEST(Signs, EachFusionOfGoogLeNetGainsAndItStaysOnTheGpu) {
  const Soc soc = orin();
  const PlanAnswer plan = make_plan(soc, shipped("googlenet"), {}, "soc", "network");
  ASSERT_EQ(plan.passes.size(), kFusions);
  for (std::size_t i = 1; i < plan.passes.size(); ++i) {
    EXPECT_LT(plan.passes[i].total.latency, 0.95 * plan.passes[i - 1].total.latency)
        << to_string(plan.passes[i].fusion);
  }
  ASSERT_TRUE(plan.greedy);
  EXPECT_GT(plan.greedy->latency, 1.05 * plan.plan.total.latency)
      << "each group on the engine that is best for it alone";
  for (const PlannedGroup& group : plan.plan.groups) {
    EXPECT_EQ(soc.engines[plan.places[group.place].engine].name, "gpu") << "15 us a transition";
  }
}

// With engines at once a transition of 5 us lets one frame of GoogLeNet gain, one of 15 us does
// not.
TEST(Signs, AtOnceAFasterTransitionLetsGoogLeNetGain) {
  PlanOptions options;
  options.at_once = true;
  const auto gain = [&](double sync) {
    Soc soc = orin();
    for (Transition& each : soc.transitions) {
      each.sync = Seconds{sync};
    }
    const PlanAnswer plan = make_plan(soc, shipped("googlenet"), options, "soc", "network");
    EXPECT_GE(plan.at_once->bound, plan.at_once->latency * (1 - 1e-9)) << "proven";
    return 1 - plan.at_once->latency / plan.in_turn;
  };
  EXPECT_NEAR(gain(15e-6), 0, 1e-9);
  EXPECT_GT(gain(5e-6), 0.01);
}

// A stream is bound by the memory: another DLA, which helps the shipped chip, brings nothing.
TEST(Signs, AtHalfTheBandwidthAnotherDlaBringsResNetNothing) {
  const Network gpu = batched(shipped("resnet50"), 32, "resnet50");
  const Network dla = batched(shipped("resnet50"), 2, "resnet50");
  PlanOptions options;
  options.objective = PlanObjective::kThroughput;
  const auto gain = [&](double share, std::size_t limit) {
    return make_stream(orin(share), {&gpu, &dla}, {32, 2}, options, "soc", "network")
        .limits[limit]
        .gain;
  };
  EXPECT_GT(gain(1, 1), 1) << "frames a second of a third DLA";
  EXPECT_NEAR(gain(0.5, 1), 0, 1e-6);
  EXPECT_GT(gain(0.5, 2), 1) << "of another GB/s";
}

}  // namespace
}  // namespace mapsim::signs_test
