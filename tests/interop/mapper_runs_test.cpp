// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "interop/timeloop_import.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "report/names.hpp"
#include "tests/interop/golden.hpp"
#include "tests/interop/search_within.hpp"
#include "tests/mapper/membership.hpp"

namespace mapsim::mapper_runs_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// One run leaves all unrollings of two fanouts open: minutes of work.
constexpr std::chrono::seconds kLimit{120};

// Rules for loops are not searched yet: without them the space is wider, and its optimum no worse.
Constraints declared(const std::string& id, const TimeloopImport& import, const Problem& problem) {
  return parse_constraints(constraints_text(import), id, problem);
}

// Timeloop's blocks have no dim twice among the parallel loops of a fanout: their order is free,
// and the mapspace wants X before Y and dims in order.
Mapping in_our_order(Mapping mapping) {
  const auto rank = [](const MappingNode& node) {
    const auto& loop = std::get<Parallel>(node);
    return std::tuple{loop.fanout, loop.axis, loop.dim};
  };
  const auto is_parallel = [](const MappingNode& node) {
    return std::holds_alternative<Parallel>(node);
  };
  for (auto begin = mapping.nodes.begin(); begin != mapping.nodes.end();) {
    begin = std::find_if(begin, mapping.nodes.end(), is_parallel);
    const auto end = std::find_if_not(begin, mapping.nodes.end(), is_parallel);
    std::sort(begin, end,
              [&](const MappingNode& a, const MappingNode& b) { return rank(a) < rank(b); });
    begin = end;
  }
  return mapping;
}

// A run of timeloop-mapper: what it searched, and the best that it found.
struct MapperRun {
  std::string id;
  Json record;
  Problem problem;
  Mapspace space;
  Mapping best;
  MapperRun(std::string run_id, Json run_record, const TimeloopImport& import)
      : id{std::move(run_id)},
        record(std::move(run_record)),
        problem{to_arch(import.design.machine), import.design.workload},
        space{problem, declared(id, import, problem)},
        best{in_our_order(canonical(problem.workload(), to_mapping(import.design)))} {}
};

Objective objective_of(const Json& record) {
  const std::string metric = record["metric"][0];
  return metric == "delay" ? Objective::kLatency
                           : (metric == "edp" ? Objective::kEdp : Objective::kEnergy);
}

// The best figure as Timeloop printed it.
double printed_value(const Json& record) {
  const Json& summary = record["best"]["summary"];
  return objective_of(record).function.value(summary["energy_total_pJ"].get<double>(),
                                             summary["cycles"].get<double>());
}

// What Timeloop charges: not the reads that bring sums up at the end.
double value_without_drains(const Problem& problem, const Objective& objective,
                            const Mapping& mapping) {
  Counts counts = count(problem, mapping);
  for (PerTensor<TensorCounts>& level : counts.levels) {
    for (TensorCounts& at : level) {
      at.read_bits = at.read_bits - at.busiest.drains * at.up_bits;
      at.total.drains = 0;
      at.busiest.drains = 0;
    }
  }
  return objective.function.value(
      energy(problem, counts).total.count(),
      static_cast<double>(latency(problem, mapping, counts).steady.count()));
}

// Did the run see every mapping? Those that were stopped did not.
bool is_complete(const Json& record) {
  const std::string algorithm = record["algorithm"];
  return (algorithm == "exhaustive" || algorithm == "linear_pruned") &&
         record["wall_s"].get<double>() < 0.9 * record["budget_s"].get<double>();
}

std::vector<std::string> run_ids(const fs::path& folder) {
  std::vector<std::string> ids;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().string().ends_with(".in.yaml")) {
        const std::string name = entry.path().filename().string();
        ids.push_back(name.substr(0, name.size() - std::string{".in.yaml"}.size()));
      }
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

TimeloopImport read_run(const fs::path& folder, const std::string& id) {
  return read_timeloop(
      {(folder / (id + ".in.yaml")).string(), (folder / (id + ".best_map.yaml")).string()});
}

// Never worse than what Timeloop's mapper found on the same machine, in the mapspace that its
// constraints declare, costed alike.
TEST(TimeloopMapper, IsNeverBetterThanTheProvenOptimum) {
  const fs::path folder = collected_folder() / "timeloop/mapper";
  std::string table =
      "| run | theirs, our cost | ours | ratio | proof | their s | our s |\n"
      "|---|---:|---:|---:|---|---:|---:|\n";
  int compared = 0;
  std::vector<std::string> waiting;
  for (const std::string& id : run_ids(folder)) {
    const Json record = Json::parse(std::ifstream{folder / (id + ".json")});
    if (record["mapspace_template"] != "uber") {
      waiting.push_back(id + ": a mapspace of another kind");
      continue;
    }
    const MapperRun run{id, record, read_run(folder, id)};
    EXPECT_EQ(why_outside(run.space, run.best), "") << id;
    const Evaluation theirs = evaluate(run.problem, run.best);
    ASSERT_TRUE(std::holds_alternative<Cost>(theirs)) << id;
    const Objective objective = objective_of(record);
    const SearchResult ours = search_within(run.space, objective, kLimit);
    if (!ours.cost) {
      EXPECT_TRUE(ours.interrupted) << id;
      waiting.push_back(id + ": stopped before a mapping was found");
      continue;
    }
    const double their_value = objective_value(objective, std::get<Cost>(theirs));
    const double our_value = objective_value(objective, *ours.cost);
    EXPECT_LE(our_value, their_value * (1 + 1e-11)) << id;
    table +=
        fmt::format("| {} | {:.6g} | {:.6g} | {:.3f} | {} | {:.1f} | {:.2f} |\n", id, their_value,
                    our_value, their_value / our_value, to_string(ours.certificate.status),
                    record["wall_s"].get<double>(), ours.statistics.seconds);
    ++compared;
  }
  if (compared == 0) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with timeloop/mapper";
  }
  std::cout << table;
  for (const std::string& run : waiting) {
    std::cout << "not compared: " << run << '\n';
  }
}

// Where Timeloop saw every mapping of a small space, its best is the best of ours, by its rules. It
// takes what is within 0.1 % for equal.
TEST(TimeloopMapper, EndsWhereOurEnumerationDoes) {
  constexpr double kTheirTolerance = 1e-3;
  const fs::path folder = collected_folder() / "timeloop/mapper";
  int compared = 0;
  for (const std::string& id : run_ids(folder)) {
    const Json record = Json::parse(std::ifstream{folder / (id + ".json")});
    if (!is_complete(record) || record["mapspace_template"] != "uber") {
      continue;
    }
    const MapperRun run{id, record, read_run(folder, id)};
    const Objective objective = objective_of(record);
    const double printed = printed_value(record);
    EXPECT_NEAR(value_without_drains(run.problem, objective, run.best), printed, 1e-6 * printed)
        << id;
    double least = std::numeric_limits<double>::infinity();
    run.space.enumerate([&](const Mapping& mapping) {
      if (!check_feasible(run.problem, count(run.problem, mapping))) {
        least = std::min(least, value_without_drains(run.problem, objective, mapping));
      }
      return true;
    });
    EXPECT_LE(least, printed * (1 + 1e-6)) << id;
    EXPECT_GE(least, printed * (1 - kTheirTolerance)) << id;
    ++compared;
  }
  if (compared == 0) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with complete runs in timeloop/mapper";
  }
}

}  // namespace
}  // namespace mapsim::mapper_runs_test
