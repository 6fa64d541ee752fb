// SPDX-License-Identifier: Apache-2.0
// Mappings in time: the file that --trace writes, and the page that show --html prints.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/command_line.hpp"

namespace mapsim::trace_test {
namespace {

using ::testing::HasSubstr;

const std::string kMapping = kRoot + "/configs/mappings/teaching_weight_stationary.yaml";

// Cycles of the slices of each row, by the names of its group and its own.
std::map<std::string, double> busy_rows(const Json& trace) {
  std::map<std::pair<int, int>, std::string> names;
  std::map<std::string, double> busy;
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") {
      names[{event["pid"], event["tid"]}] = event["args"]["name"];
    } else if (event["ph"] == "X" && !event["name"].get<std::string>().starts_with("wait")) {
      busy[names[{event["pid"], event["tid"]}]] += event["dur"].get<double>();
    }
  }
  return busy;
}

// Pairs of slices that overlap in a row [ns of the viewer]; the viewer drops the second.
int overlaps(const Json& trace) {
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> rows;
  const auto ns = [](const Json& us) {
    return static_cast<std::int64_t>(std::llround(us.get<double>() * 1000));
  };
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      rows[{event["pid"], event["tid"]}].emplace_back(ns(event["ts"]),
                                                      ns(event["ts"]) + ns(event["dur"]));
    }
  }
  int count = 0;
  for (auto& [row, slices] : rows) {
    std::sort(slices.begin(), slices.end());
    for (std::size_t i = 1; i < slices.size(); ++i) {
      count += slices[i].first < slices[i - 1].second ? 1 : 0;
    }
  }
  return count;
}

TEST_F(CommandLine, TracesASimulatedMapping) {
  const Outcome result =
      run(fmt::format("simulate {} {} {} --trace t.json", kTeaching, kLayer, kMapping));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("counts agree\n"));
  EXPECT_THAT(result.out, HasSubstr("trace: t.json, all "));
  const Json trace = Json::parse(file("t.json"));
  EXPECT_EQ(trace["otherData"]["complete"], true);
  EXPECT_EQ(trace["otherData"]["unit"], "1 us is 1 cycle");
  EXPECT_EQ(overlaps(trace), 0);
  const Json evaluated =
      Json::parse(run(fmt::format("eval {} {} {} --json", kTeaching, kLayer, kMapping)).out);
  auto busy = busy_rows(trace);
  ASSERT_GE(evaluated["resources"].size(), 2U);
  for (const Json& resource : evaluated["resources"]) {
    const auto cycles = resource["cycles"].get<double>();
    EXPECT_NEAR(busy[resource["name"]], cycles, 1e-3 * (1 + cycles)) << resource["name"];
  }
}

// What the file says of itself, behind the events, which are many.
Json about(const std::string& trace) {
  return Json::parse(trace.substr(trace.rfind("\"otherData\":") + 12,
                                  trace.size() - trace.rfind("\"otherData\":") - 14));
}

TEST_F(CommandLine, TracesTheBestMappingOfALargeLayer) {
  const Outcome result = run("search eyeriss vgg16/conv1_2 --trace t.json --save-mapping m.yaml");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("proven optimal"));
  EXPECT_THAT(result.out, HasSubstr("tile steps: the first 10,000, and 20 stretches of 500"));
  const std::string trace = file("t.json");
  EXPECT_EQ(about(trace)["complete"], false);
  EXPECT_EQ(about(trace)["walked"], 20'000);
  EXPECT_THAT(about(trace)["covers"].get<std::string>(), HasSubstr("not walked"));
  // The same for a mapping from a file, which is too large to be simulated.
  const Outcome walked = run("simulate eyeriss vgg16/conv1_2 m.yaml --trace again.json");
  EXPECT_EQ(walked.code, 0) << walked.err;
  EXPECT_THAT(walked.out, HasSubstr("not simulated: 1,849,688,064 MACs are more than --max-steps"));
  const std::string again = file("again.json");
  EXPECT_TRUE(again.substr(0, again.rfind("],\n")) == trace.substr(0, trace.rfind("],\n")));
}

TEST_F(CommandLine, LeavesNoTraceThatIsNotWhole) {
  EXPECT_EQ(run(fmt::format("simulate {} {} {} --trace -", kTeaching, kLayer, kMapping)).code, 2);
  EXPECT_EQ(run(fmt::format("simulate {0} {1} {2} --trace {2}", kTeaching, kLayer, kMapping)).code,
            2);
  EXPECT_THAT(run("search a100_40gb --gemm 64x64x64 --trace t.json").err, HasSubstr("--trace"));
  EXPECT_THAT(run("search teaching teaching/conv --pareto --trace t.json").err,
              HasSubstr("--trace"));
  EXPECT_TRUE(is_empty());
}

TEST_F(CommandLine, ShowsAMappingToStepThrough) {
  const Outcome page = run(fmt::format("show {} {} {} --html", kTeaching, kLayer, kMapping));
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("<figure class=\"stepper\" id=\"steps\">"));
  EXPECT_THAT(page.out, HasSubstr("</html>"));
  EXPECT_THAT(run(fmt::format("show {} --html", kTeaching)).err, HasSubstr("--html"));
}

// Of given zeros every count agrees; of drawn ones a data set stands beside the mean over all.
TEST_F(CommandLine, SimulatesTheZerosOfTheWorkload) {
  std::ofstream{folder() / "m.yaml"}
      << "name: m\nnodes:\n"
         "  - storage: DRAM\n    capacity: unlimited\n    word: 8 b\n"
         "    energy: {read: 20 pJ/word, write: 30 pJ/word}\n"
         "    format: {input: bitmask, weight: bitmask}\n"
         "    when_empty: [{skip: output, on: input}]\n"
         "  - fanout: PEs\n    x: 2\n"
         "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [weight]}\n";
  std::ofstream{folder() / "t.yaml"}
      << "mapping:\n  - keep DRAM: [A, B, Z]\n  - parallel N: 1 over X of PEs\n"
         "  - for M: 1\n  - for K: 1\n";
  std::ofstream{folder() / "a.txt"} << "0 1 1 0\n1 0 0 0\n0 0 0 0\n";
  std::ofstream{folder() / "data.yaml"}
      << "name: w\ngemm: {m: 3, n: 2, k: 4}\ndensity: {A: data a.txt, B: banded 1}\n";
  std::ofstream{folder() / "drawn.yaml"}
      << "name: w\ngemm: {m: 3, n: 2, k: 4}\ndensity: {A: data a.txt, B: 0.5}\n";
  const Outcome data = run("simulate m.yaml data.yaml t.yaml");
  EXPECT_EQ(data.code, 0) << data.out;
  EXPECT_THAT(data.out, HasSubstr(" dense counts agree\n"));
  EXPECT_THAT(data.out, HasSubstr(" counts of the zeros agree\n"));
  const Json masks = Json::parse(run("eval m.yaml data.yaml t.yaml --json").out)["inputs"];
  EXPECT_EQ(masks["mask A"]["path"], (folder() / "a.txt").string());
  const Outcome drawn = run("simulate m.yaml drawn.yaml t.yaml --seed 3");
  EXPECT_EQ(drawn.code, 0) << drawn.out;
  EXPECT_THAT(drawn.out, HasSubstr("zeros of one data set (seed 3) beside the mean over all"));
  // What is a lower bound says so, for people and for programs.
  const Outcome cost = run("eval m.yaml data.yaml t.yaml");
  EXPECT_THAT(cost.out, HasSubstr("the time is that of the mean over instances"));
  EXPECT_THAT(cost.out, HasSubstr("of the peak of 2 MAC units, operations that zeros spare"));
  const Json evaluated = Json::parse(run("eval m.yaml data.yaml t.yaml --json").out);
  EXPECT_THAT(evaluated["warnings"][0], HasSubstr("the mean over instances"));
}

}  // namespace
}  // namespace mapsim::trace_test
