// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/names.hpp"
#include "report/text.hpp"
#include "tests/report/small_problem.hpp"

namespace mapsim::json_test {
namespace {

using Json = nlohmann::ordered_json;

Provenance origin() {
  return {"eval", {{"arch", "a.yaml", 0x0123456789ABCDEFULL}, {"workload", "w.yaml", 1}}};
}

SearchResult found(const Problem& problem, const Mapping& mapping) {
  SearchResult result;
  result.best = mapping;
  result.cost = std::get<Cost>(evaluate(problem, mapping));
  result.certificate = {Proof::kOptimal, result.cost->energy.total.count(), 0,
                        "123456789012345678901"};
  result.statistics.seconds = 0.5;
  result.statistics.evaluations = 7;
  return result;
}

TEST(EvaluationJson, HoldsTheCostUnderStableKeys) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  const Evaluation evaluation = evaluate(problem, mapping);
  const Cost& cost = std::get<Cost>(evaluation);
  const Json json = Json::parse(evaluation_json(origin(), problem, mapping, evaluation));
  EXPECT_EQ(json["schema"], kResultSchema);
  EXPECT_EQ(json["feasible"], true);
  EXPECT_EQ(json["cost"]["energy_pj"].get<double>(), cost.energy.total.count());
  EXPECT_EQ(json["cost"]["latency_cycles"], cost.latency.steady.count());
  EXPECT_EQ(json["cost"]["latency_cycles_ramped"], cost.latency.ramped.count());
  EXPECT_EQ(json["cost"]["edp"].get<double>(), cost.edp());
  EXPECT_EQ(json["cost"]["macs"], 192);
  EXPECT_EQ(json["cost"]["utilization"].get<double>(), cost.utilization);
  EXPECT_EQ(json["cost"]["bottleneck"], "DRAM");
  EXPECT_NE(json["mapping"].get<std::string>().find("keep GLB"), std::string::npos);
}

TEST(EvaluationJson, HoldsTheCountsOfEveryLevelAndTensor) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  const Evaluation evaluation = evaluate(problem, mapping);
  const Cost& cost = std::get<Cost>(evaluation);
  const Json json = Json::parse(evaluation_json(origin(), problem, mapping, evaluation));
  ASSERT_EQ(json["levels"].size(), 2);
  double sum = 0;
  for (const LevelId level : problem.arch().levels.ids()) {
    const Json& entry = json["levels"][index_of(level)];
    EXPECT_EQ(entry["name"], problem.arch().levels[level].name);
    for (const TensorId id : problem.workload().tensors.ids()) {
      const Json& tensor = entry["tensors"][problem.workload().tensors[id].name];
      const AccessCounts& total = cost.counts.levels[level][id].total;
      EXPECT_EQ(tensor["reads"], total.reads);
      EXPECT_EQ(tensor["fills"], total.fills);
      EXPECT_EQ(tensor["updates"], total.updates);
      EXPECT_EQ(tensor["readbacks"], total.readbacks);
      EXPECT_EQ(tensor["drains"], total.drains);
      EXPECT_EQ(tensor["footprint"], cost.counts.levels[level][id].footprint);
      sum += tensor["energy_pj"].get<double>();
    }
  }
  sum += json["fanouts"][0]["energy_pj"].get<double>();
  sum += json["compute"]["energy_pj"].get<double>();
  EXPECT_EQ(sum, json["cost"]["energy_pj"].get<double>());
}

TEST(EvaluationJson, SaysWhyASystolicArrayCannotRunAMapping) {
  const Problem problem = testing::small_problem_timed("{model: systolic, array: PEs}");
  const Mapping mapping = testing::small_mapping();
  const Json json =
      Json::parse(evaluation_json(origin(), problem, mapping, evaluate(problem, mapping)));
  EXPECT_EQ(json["feasible"], false);
  EXPECT_EQ(json["reason"],
            "PEs: nothing stays in it; a systolic array needs a tensor kept below it, or latched");
}

TEST(EvaluationJson, SplitsTheBanksOfAnEngine) {
  const Mapping mapping = testing::small_mapping();
  const Problem engine =
      testing::small_problem_timed("{model: nvdla, array: PEs, buffer: GLB, banks: 4}");
  const Json banks =
      Json::parse(evaluation_json(origin(), engine, mapping, evaluate(engine, mapping)))["banks"];
  EXPECT_EQ(banks, Json::parse(R"({"of": 4, "tensors": {"A": 1, "B": 1, "Z": 1}})"));
  const Problem plain = testing::small_problem();
  EXPECT_TRUE(
      Json::parse(evaluation_json(origin(), plain, mapping, evaluate(plain, mapping)))["banks"]
          .is_null());
}

TEST(EvaluationJson, SaysWhyAMappingDoesNotFit) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping(8);
  const Json json =
      Json::parse(evaluation_json(origin(), problem, mapping, evaluate(problem, mapping)));
  EXPECT_EQ(json["feasible"], false);
  EXPECT_EQ(json["reason"], "PEs: the mapping uses 8 instances along Y, there are 2");
  EXPECT_FALSE(json.contains("cost"));
}

TEST(SearchJson, HoldsCertificateStatisticsAndOrigin) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  const SearchResult result = found(problem, testing::small_mapping());
  const Json json = Json::parse(search_json(origin(), space, "exact", {.seed = 9}, result));
  EXPECT_EQ(json["certificate"]["status"], "optimal");
  EXPECT_EQ(json["certificate"]["lower_bound"], json["cost"]["energy_pj"]);
  EXPECT_EQ(json["certificate"]["gap"], 0.0);
  EXPECT_EQ(json["certificate"]["mapspace_size"], "123456789012345678901");
  EXPECT_EQ(json["mapspace_size"], "123456789012345678901");
  EXPECT_EQ(json["statistics"]["seconds"], 0.5);
  EXPECT_EQ(json["statistics"]["evaluations"], 7);
  EXPECT_EQ(json["inputs"]["arch"]["path"], "a.yaml");
  EXPECT_EQ(json["inputs"]["arch"]["fnv1a"], "0123456789abcdef");
  EXPECT_EQ(json["seed"], 9);
  EXPECT_EQ(json["objective"], "energy");
  EXPECT_EQ(json["strategy"], "exact");
  EXPECT_EQ(json["tool"]["version"], tool_version());
}

TEST(SearchJson, WithoutAMappingListsTheReasons) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  SearchResult result;
  result.infeasible.reasons["GLB: capacity"] = 3;
  result.infeasible.smallest_need["GLB: capacity"] = 640;
  const Json json = Json::parse(search_json(origin(), space, "exact", {}, result));
  EXPECT_EQ(json["feasible"], false);
  EXPECT_FALSE(json.contains("cost"));
  EXPECT_EQ(json["infeasible"][0]["reason"], "GLB: capacity");
  EXPECT_EQ(json["infeasible"][0]["times"], 3);
  EXPECT_EQ(json["infeasible"][0]["smallest_need"], 640);
}

TEST(SearchJson, SaysNullOfASpaceThatWasNotCounted) {
  const Problem problem = testing::small_problem();
  SearchResult result = found(problem, testing::small_mapping());
  result.certificate.mapspace_size.clear();
  const Json json = Json::parse(search_json(origin(), Mapspace{problem, {}}, "exact", {}, result));
  EXPECT_TRUE(json.at("mapspace_size").is_null());
  EXPECT_TRUE(json["certificate"].at("mapspace_size").is_null());
}

// Of imperfect mappings, where some that may be as fast were not looked at.
TEST(SearchJson, SaysThatATieIsNotProven) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  SearchResult result = found(problem, testing::small_mapping());
  const auto certificate = [&] {
    return Json::parse(search_json(origin(), space, "exact", {}, result)).at("certificate");
  };
  EXPECT_FALSE(certificate().contains("ties_proven"));
  result.certificate.bound_but_for_free_boundaries = result.certificate.lower_bound;
  EXPECT_EQ(certificate()["status"], "optimal");
  EXPECT_EQ(certificate()["ties_proven"], false);
  EXPECT_STREQ(status_of(result.certificate), "ties_open");
  EXPECT_FALSE(certificate().contains("lower_bound_but_for_bare_extents"));
  EXPECT_NE(search_text(space, Objective::kLatency, result).find("not every mapping of this value"),
            std::string::npos);
}

TEST(SearchJson, ClaimsNoOptimumWhereNothingFits) {
  const Problem problem = testing::small_problem();
  SearchResult result;
  result.certificate = {Proof::kInfeasible, std::numeric_limits<double>::infinity(), 0, "12"};
  const Json json =
      Json::parse(search_json(origin(), Mapspace{problem, {}}, "exhaustive", {}, result));
  const Json expected{{"status", "infeasible"}, {"mapspace_size", "12"}};
  EXPECT_EQ(json["certificate"], expected);
}

TEST(SearchJson, SaysWhatWouldHelp) {
  const Problem problem = testing::small_problem();
  const SearchResult result = found(problem, testing::small_mapping());
  const std::vector<Relief> reliefs{{"GLB capacity", 750, 0.25}, {"spad capacity", 1000, 0, false}};
  const Json json =
      Json::parse(search_json(origin(), Mapspace{problem, {}}, "exact", {}, result, reliefs));
  const Json expected =
      Json::parse(R"({"reliefs": [{"resource": "GLB capacity", "value": 750.0, "gain": 0.25}]})");
  EXPECT_EQ(json["why"], expected);
  EXPECT_NE(relief_text(Objective::kEnergy, reliefs)
                .find("not known before the search was stopped: twice of spad capacity"),
            std::string::npos);
}

TEST(EvaluationJson, SharesOutTheGapToTheOptimum) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  const Evaluation evaluation = evaluate(problem, mapping);
  const GapReport gap{Objective::kEdp, search_exact(Mapspace{problem, {}}, {}).cost, {}};
  const Json json = Json::parse(evaluation_json(origin(), problem, mapping, evaluation, gap));
  const Json& why = json["why"];
  EXPECT_EQ(why["objective"], "edp");
  EXPECT_EQ(why["optimum"]["value"].get<double>(), gap.best->edp());
  EXPECT_DOUBLE_EQ(why["excess"].get<double>(),
                   json["cost"]["edp"].get<double>() / gap.best->edp() - 1);
  double sum = 0;
  for (const Json& share : why["energy_shares"]) {
    sum += share["difference_pj"].get<double>();
  }
  EXPECT_GT(sum, 0);
  EXPECT_NEAR(sum,
              json["cost"]["energy_pj"].get<double>() - why["optimum"]["energy_pj"].get<double>(),
              1e-9 * sum);
}

// Every part of the gap has a name of its own, in the text and in the file.
TEST(EvaluationJson, LabelsAdditionsComputeAndLeakage) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  Cost given = std::get<Cost>(evaluate(problem, mapping));
  const Cost best = given;
  given.energy.fanouts[FanoutId{0}] += Picojoules{30};
  given.energy.hops[FanoutId{0}][TensorId{1}] += Picojoules{20};
  given.energy.compute += Picojoules{40};
  given.energy.leakage += Picojoules{-10};
  given.energy.levels[LevelId{1}][TensorId{0}].read += Picojoules{50};
  given.energy.total += Picojoules{130};
  const GapReport gap{Objective::kEnergy, best, {}};
  const Json json = Json::parse(evaluation_json(origin(), problem, mapping, given, gap));
  EXPECT_EQ(json["why"]["energy_shares"], Json::parse(R"([
    {"action": "read", "level": "GLB", "tensor": "A", "difference_pj": 50.0},
    {"action": "compute", "difference_pj": 40.0},
    {"action": "additions", "fanout": "PEs", "difference_pj": 30.0},
    {"action": "hops", "fanout": "PEs", "tensor": "B", "difference_pj": 20.0},
    {"action": "leakage", "difference_pj": -10.0}])"));
  const std::string text = gap_text(problem, gap, given);
  for (const char* label :
       {"GLB A read ", "compute ", "PEs additions ", "PEs B hops ", "leakage "}) {
    EXPECT_NE(text.find(std::string{"\n  "} + label), std::string::npos) << label << text;
  }
}

TEST(HistogramJson, CountsEveryMappingInOneBin) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  Histogram histogram;
  histogram.points = {{100, 5}, {101, 5}, {400, 3}, {800, 3}};
  const Json json = Json::parse(histogram_json(origin(), space, {}, histogram));
  EXPECT_EQ(json["mappings"], 4);
  EXPECT_EQ(json["least_pj"], 100.0);
  EXPECT_EQ(json["near_optimum"], 2);
  EXPECT_EQ(json["least_accesses"], 3);
  EXPECT_EQ(json["tied_spread"], 2.0);
  EXPECT_TRUE(json["optimum_pj"].is_null());
  std::int64_t mappings = 0;
  for (const Json& bin : json["bins"]) {
    mappings += bin["mappings"].get<std::int64_t>();
  }
  EXPECT_EQ(mappings, 4);
  EXPECT_EQ(json["bins"].front()["from_pj"], 100.0);
  EXPECT_NEAR(json["bins"].back()["to_pj"].get<double>(), 800, 1e-9);
}

TEST(SearchJson, IsTheSameBytesForTheSameResult) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  const SearchResult result = found(problem, testing::small_mapping());
  EXPECT_EQ(search_json(origin(), space, "exact", {}, result),
            search_json(origin(), space, "exact", {}, result));
}

TEST(RooflineJson, WritesAnUnlimitedBandwidthAsNull) {
  const Problem problem = testing::small_problem();
  Arch arch = problem.arch();
  arch.levels[LevelId{0}].bandwidth = {};
  const Json json = Json::parse(
      roofline_json(origin(), arch, problem.workload(), roofline(arch, problem.workload())));
  EXPECT_TRUE(json["roofline"]["peak_bytes_per_second"].is_null());
  EXPECT_EQ(json["roofline"]["ops"], 384);
  EXPECT_EQ(json["roofline"]["limiter"], "math");
}

}  // namespace
}  // namespace mapsim::json_test
