// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/command_line.hpp"

namespace mapsim::plan_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PlanCommand : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    std::ofstream{folder() / "net.yaml"}
        << "name: net\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
           "inputs: {x: {shape: [1, 32, 14, 14]}}\ngraph:\n"
           "  - {name: a, conv2d: {out_channels: 64, kernel: 1}, in: x, epilogue: [relu]}\n"
           "  - {name: p, op: MaxPool, kernel: 2, stride: 2, in: a}\n"
           "  - {name: b, conv2d: {out_channels: 64, kernel: 1}, in: p}\n";
    std::ofstream{folder() / "chip.yaml"}
        << "name: chip\nsoc:\n"
           "  memory: {bandwidth: 9 GB/s, capacity: 1 GB, energy: {read: 9 pJ/B, write: 9 pJ/B}}\n"
           "  power: 1 W\n"
           "  engines:\n"
           "    - {name: small, arch: nv_small, formats: [f]}\n"
           "    - {name: large, arch: nv_large, formats: [f], operators: [Conv]}\n"
           "  transitions:\n"
           "    - {from: small, to: large, sync: 1 us}\n"
           "    - {from: large, to: small, sync: 1 us}\n";
  }
};

TEST_F(PlanCommand, PlansAFrame) {
  const Outcome ran = run("plan chip.yaml net.yaml --why a --front --trace trace.json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("net on chip, batch 1, latency\n"));
  EXPECT_THAT(ran.out, HasSubstr("alone impossible: p: large has no MaxPool\n"));
  EXPECT_THAT(ran.out, HasSubstr("2 tensors change engines: 2.000 us\n"));
  EXPECT_THAT(ran.out, HasSubstr("\nwhy a:\n"));
  const Json trace = Json::parse(file("trace.json"));
  double end = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    }
  }
  const Json plan = Json::parse(run("plan chip.yaml net.yaml --json").out);
  EXPECT_NEAR(end, plan["latency_seconds"].get<double>() * 1e6, 1e-6);
  EXPECT_EQ(plan["moves"].size(), 2U);
  // The engines share a format, so that tensors lie where they were made: x, a, p, b.
  EXPECT_EQ(plan["tensors"].size(), 4U);
}

TEST_F(PlanCommand, PlansAStream) {
  const Outcome ran = run("plan chip.yaml net.yaml --objective throughput --engine-batch large=4");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("net on chip, a stream of frames\n"));
  const Json stream = Json::parse(run("plan chip.yaml net.yaml --objective throughput --json").out);
  EXPECT_NEAR(stream["gap"].get<double>(), 0, 1e-8);
}

TEST_F(PlanCommand, UsesTheEnginesThatItMay) {
  const Json plan = Json::parse(run("plan chip.yaml net.yaml --engine small --json").out);
  ASSERT_EQ(plan["engines"].size(), 1U);
  EXPECT_EQ(plan["engines"][0]["name"], "small");
}

TEST_F(PlanCommand, ExplainsMisuse) {
  const std::string net = "plan chip.yaml net.yaml ";
  const std::string list = kRoot + "/configs/networks/alexnet.yaml";
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"plan chip.yaml " + list,
            list + " is a list of layers and has no edges; a plan needs a graph: an ONNX model, "
                   "nodes with `in` and `out`, or a shipped one such as graphs/resnet50"},
           {net + "--engine smal", "--engine: chip has no engine 'smal'; did you mean 'small'?"},
           {net + "--why c", "--why: net has no node 'c'; one of a, p, b"},
           {net + "--engine-batch large=2",
            "--engine-batch is for throughput; a frame has one batch, --batch"},
           {net + "--sparse", "--sparse: only for chips with a GPU, and chip has none"},
           {net + "--launch stream",
            "--launch stream: only for chips with a GPU, and chip has none"},
           {net + "--objective throughput --front",
            "--front is about the plan of one frame; it is not for throughput"},
           {net + "--objective throughput --engine-batch big=2",
            "--engine-batch: chip has no engine 'big'; one of small, large"}}) {
    const Outcome ran = run(arguments);
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_EQ(ran.err, "mapsim: " + message + "\n");
  }
}

TEST_F(PlanCommand, IsCostedInThePrecisionThatItHas) {
  const std::string net = "jetson_agx_orin graphs/squeezenet ";
  ASSERT_EQ(run("plan " + net + "--precision f16 --save-plan plan.yaml").code, 0);
  const Outcome ran = run("eval " + net + "plan.yaml --precision f16");
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Outcome other = run("eval " + net + "plan.yaml");  // the network's own precision
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(
      other.err,  // once, not for each group
      "plan.yaml:4:5: plan[0]: gpu is planned in s8 hwc, not in f16 hwc; --precision f16 "
      "plans in that\n  - {nodes: [conv1], engine: gpu, precision: f16, format: hwc}\n    ^\n");
  EXPECT_THAT(run("eval " + net + "plan.yaml --precision tf32").err,
              HasSubstr("--precision: on a chip s8, f16 or f32, not 'tf32'"));
  EXPECT_THAT(run("eval " + net + "plan.yaml --block 64x64x32").err,
              HasSubstr("--block: only for a GPU"));
}

TEST_F(PlanCommand, WritesOverNoFileOfItsOwn) {
  const std::string net = "plan chip.yaml net.yaml ";
  for (const std::string& arguments :
       {net + "--save-plan net.yaml", net + "--certificate chip.yaml", net + "--report net.yaml",
        net + "--given plan.yaml --save-plan plan.yaml", net + "--with other.yaml -o other.yaml",
        net + "--trace a --certificate a", net + "--save-plan a --report ./a"}) {
    std::ofstream{folder() / "plan.yaml"} << "plan: {}\n";
    std::ofstream{folder() / "other.yaml"} << "name: other\n";
    const Outcome ran = run(arguments);
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr("would be written over")) << arguments;
  }
}

TEST_F(PlanCommand, ChecksItsProofOnly) {
  ASSERT_EQ(run("plan chip.yaml net.yaml --certificate proof.yaml").code, 0);
  EXPECT_EQ(run("check proof.yaml").code, 0);
  EXPECT_THAT(run("check proof.yaml --arch eyeriss").err, HasSubstr("the proof of one layer"));
  EXPECT_THAT(run("check proof.yaml --sample 2").err, HasSubstr("only of a proof of designs"));
  EXPECT_THAT(run("check proof.yaml -o proof.yaml").err, HasSubstr("would be written over"));
}

TEST_F(PlanCommand, ProvesSchedulesWithEnginesAtOnce) {
  const Outcome ran =
      run("plan jetson_agx_orin graphs/resnet50 --at-once --certificate proof.json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Outcome holds = run("check proof.json");
  EXPECT_EQ(holds.code, 0);
  EXPECT_THAT(holds.out, HasSubstr("no schedule of these groups at these prices is faster"));
  const Json proof = Json::parse(file("proof.json"));
  const auto check = [&](const Json& change) {
    Json forged = proof;
    forged["plan_certificate"].merge_patch(change);
    std::ofstream{folder() / "forged.json"} << forged.dump();
    return run("check forged.json").code;
  };
  const double value = proof["plan_certificate"]["value"];
  EXPECT_EQ(check(Json::object()), 0);
  EXPECT_EQ(check({{"at_once", {{"bound", 1.01 * value}}}}), 1);
  EXPECT_EQ(check({{"value", 0.99 * value}, {"at_once", {{"bound", 0.99 * value}}}}), 1);
  EXPECT_EQ(check({{"at_once", {{"counts", {1, 0}}}}}), 2);
  EXPECT_EQ(check({{"objective", "energy"}}), 2);
}

TEST_F(PlanCommand, ProvesPlansWithinLimits) {
  const Outcome ran =
      run("plan jetson_agx_orin graphs/squeezenet --objective energy "
          "--max-latency 200us --certificate proof.json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("that keeps the limits has a lower energy"));
  EXPECT_THAT(
      run("check proof.json").out,
      HasSubstr("no plan of these groups at these prices takes less, of those with at most a "
                "latency of 0.0002 s"));
  Json proof = Json::parse(file("proof.json"));
  const auto check = [&](const Json& forged) {
    std::ofstream{folder() / "forged.json"} << forged.dump();
    return run("check forged.json");
  };
  EXPECT_EQ(check(proof).code, 0);
  Json forged = proof;  // a limit that another plan would keep, with less energy
  forged["plan_certificate"]["limits"][0]["most"] = 220e-6;
  EXPECT_EQ(check(forged).code, 1);
  forged = proof;  // one that the plan does not keep
  forged["plan_certificate"]["limits"][0]["most"] = 190e-6;
  EXPECT_EQ(check(forged).code, 1);
  forged = proof;
  forged["plan_certificate"]["limits"][0]["multiplier"] = -1;
  EXPECT_EQ(check(forged).code, 2);
  forged = proof;
  forged["plan_certificate"]["moves"] = Json::array();
  EXPECT_EQ(check(forged).code, 2);
  const Outcome none = run("plan chip.yaml net.yaml --max-latency 5ns");
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.out, testing::MatchesRegex("no plan of net on chip keeps the limits: the least "
                                              "latency of all plans is [0-9.]* us\n"));
}

TEST_F(PlanCommand, ProvesPlansWithinMemory) {
  const std::string plan = "plan teaching_chip graphs/squeezenet ";
  const Outcome free = run(plan + "--json");
  const auto peak = Json::parse(free.out)["memory"]["peak_bytes"].get<std::int64_t>();
  for (const std::int64_t most : {peak - 1, peak * 9 / 10}) {
    const Outcome ran =
        run(plan + "--max-memory " + std::to_string(most) + "B --certificate proof.json");
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
    const Outcome holds = run("check proof.json");
    EXPECT_EQ(holds.code, 0) << holds.out;
    EXPECT_THAT(holds.out, HasSubstr("of those with at most " + std::to_string(most) +
                                     " B of tensors alive at once"));
  }
  const Json proof = Json::parse(file("proof.json"));
  const auto check = [&](const char* key, double value) {
    Json forged = proof;
    forged["plan_certificate"]["memory_limit"][key] = value;
    std::ofstream{folder() / "forged.json"} << forged.dump();
    return run("check forged.json").code;
  };
  const double value = proof["plan_certificate"]["value"];
  EXPECT_EQ(check("bound", value), 0);  // it is proven
  EXPECT_EQ(check("bound", 1.001 * value), 1);
  EXPECT_EQ(check("most", static_cast<double>(peak)), 1);  // another plan is better
  EXPECT_EQ(check("most", 1000), 1);                       // this one needs more
  EXPECT_EQ(check("most", -1), 2);
  Json forged = proof;
  forged["plan_certificate"].erase("memory_limit");
  std::ofstream{folder() / "forged.json"} << forged.dump();
  EXPECT_EQ(run("check forged.json").code, 1);
}

// Rather than leaving out the files that were asked for.
TEST_F(PlanCommand, RefusesWhatIsOfOneNetworkOrOneFrame) {
  for (const std::string option : {"--report a", "--certificate a", "--save-plan a", "--trace a",
                                   "--front", "--what-if", "--max-power 1W"}) {
    const Outcome two = run("plan chip.yaml net.yaml --with net.yaml " + option);
    EXPECT_EQ(two.code, 2) << option;
    EXPECT_THAT(two.err, HasSubstr("is for the plan of one network")) << option;
    if (option != "--certificate a") {
      const Outcome stream = run("plan chip.yaml net.yaml --objective throughput " + option);
      EXPECT_EQ(stream.code, 2) << option;
      EXPECT_THAT(stream.err, HasSubstr("is about the plan of one frame")) << option;
    }
  }
}

TEST_F(PlanCommand, SaysWhatRunsOnNoEngine) {
  const Outcome ran = run("plan chip.yaml net.yaml --engine large");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "net.yaml: node p: MaxPool runs on no engine of chip (large: large has no MaxPool)\n");
}

TEST_F(PlanCommand, ExitsWithOneWhereOperationsHaveNoPrice) {
  std::ofstream{folder() / "net.yaml", std::ios::app}
      << "  - {name: n, op: NonMaxSuppression, in: b, shape: [1, 64, 7, 7], unpriced: true}\n";
  const Outcome ran = run("plan chip.yaml net.yaml");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, EndsWith("\nNot priced, in no sum: n (NonMaxSuppression)\n"));
}

}  // namespace
}  // namespace mapsim::plan_test
