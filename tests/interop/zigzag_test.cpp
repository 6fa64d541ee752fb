// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "report/names.hpp"
#include "tests/interop/golden.hpp"
#include "tests/interop/search_within.hpp"
#include "tests/interop/zigzag_run.hpp"

namespace mapsim {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{20};

std::vector<fs::path> run_files(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().stem().string().find("__") != std::string::npos) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// One objective of one run: theirs and ours, both in our cost.
struct Comparison {
  std::string row;
  std::string waiting;  // why it could not be compared
};

Comparison compare(const ZigzagRun& run, const ZigzagBest& best) {
  if (!best.mapping) {
    return {"", best.reason};
  }
  const auto problems = check_structure(run.problem.arch(), run.problem.workload(), *best.mapping);
  EXPECT_TRUE(problems.empty()) << run.id << ": " << (problems.empty() ? "" : problems[0].what);
  const Evaluation evaluation = evaluate(run.problem, *best.mapping);
  if (const auto* reason = std::get_if<Infeasible>(&evaluation)) {
    return {"", infeasible_text(run.problem.arch(), *reason)};
  }
  const Cost& theirs = std::get<Cost>(evaluation);
  const Mapspace space{run.problem, run.constraints};
  const SearchResult ours = search_within(space, best.objective, kLimit);
  if (!ours.cost) {
    ADD_FAILURE() << run.id << ": nothing found";
    return {};
  }
  const double their_value = objective_value(best.objective, theirs);
  const double our_value = objective_value(best.objective, *ours.cost);
  EXPECT_LE(our_value, their_value * (1 + 1e-11)) << run.id;
  const double printed = best.objective.function.value(best.energy_pj, best.cycles);
  return {fmt::format("| {} | {} | {:.5g} | {:.5g} | {:.5g} | {:.3f} | {} | {:.1f} | {:.1f} |\n",
                      run.id, to_string(best.objective), printed, their_value, our_value,
                      their_value / our_value, to_string(ours.certificate.status), run.seconds,
                      ours.statistics.seconds),
          ""};
}

// Never worse than ZigZag's best temporal mapping for the same unrolling, in our cost.
TEST(Zigzag, IsNeverBetterThanTheProvenOptimum) {
  const fs::path folder = collected_folder() / "zigzag";
  std::string table;
  std::map<std::string, int> waiting;
  int compared = 0;
  for (const fs::path& file : run_files(folder)) {
    const ZigzagRun run = read_zigzag_run(file, folder / "architectures.json");
    for (const ZigzagBest& best : run.bests) {
      const Comparison found =
          run.divides ? compare(run, best) : Comparison{"", "an unrolling that does not divide"};
      table += found.row;
      compared += found.row.empty() ? 0 : 1;
      if (!found.waiting.empty()) {
        ++waiting[found.waiting];
      }
    }
  }
  if (compared == 0) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with zigzag/architectures.json";
  }
  std::cout << "| run | objective | theirs | theirs, our cost | ours | ratio | proof | their s | "
               "our s |\n|---|---|---:|---:|---:|---:|---|---:|---:|\n"
            << table;
  for (const auto& [reason, times] : waiting) {
    std::cout << fmt::format("{} not compared: {}\n", times, reason);
  }
}

}  // namespace
}  // namespace mapsim
