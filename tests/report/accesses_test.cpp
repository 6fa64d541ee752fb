// SPDX-License-Identifier: Apache-2.0
#include "report/accesses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "tests/report/small_problem.hpp"
#include "workloads/load.hpp"

namespace mapsim::accesses_test {
namespace {

double energy_of(const std::vector<ActionRow>& rows) {
  double sum = 0;
  for (const ActionRow& row : rows) {
    sum += row.all().count();
  }
  return sum;
}

TEST(ActionRows, AddUpToTheEnergy) {
  const Problem problem = testing::small_problem();
  const Cost cost = std::get<Cost>(evaluate(problem, testing::small_mapping()));
  const double total = cost.energy.total.count();
  EXPECT_NEAR(energy_of(action_rows(problem, cost)), total, 1e-9 * total);
  for (const TableColumn& column : action_table(problem, cost).columns) {
    EXPECT_NE(column.key, "skipped") << "no zeros";
  }
}

// Half of A's four places are zero, in one of its two halves: the other half of B is not read.
TEST(ActionRows, TellWhatIsMadeGatedAndSkipped) {
  const std::string machine =
      "name: m\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 8 pJ/word, write: 8 pJ/word, gated: 2 pJ/word}\n"
      "    format: {input: bitmask}\n    when_empty: [{gate: weight, on: input}]\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [input]}\n";
  const Problem problem{
      parse_arch(machine, "m.yaml"),
      parse_workload("name: w\ngemm: {m: 1, n: 2, k: 4}\ndensity: {A: 0.5}\n", "w.yaml")};
  const Mapping mapping =
      parse_mapping("mapping:\n  - keep DRAM: [A, B, Z]\n  - for K: 1\n  - for N: 1\n", "m.yaml",
                    problem.arch(), problem.workload());
  const Cost cost = std::get<Cost>(evaluate(problem, mapping));
  const std::vector<ActionRow> rows = action_rows(problem, cost);
  EXPECT_NEAR(energy_of(rows), cost.energy.total.count(), 1e-9);
  EXPECT_EQ(action_csv(problem, cost).substr(0, action_csv(problem, cost).find("DRAM,Z")),
            "node,tensor,format,action,made,gated,skipped,format_bits,made_pj,gated_pj,skipped_pj,"
            "format_pj\n"
            "DRAM,A,bitmask,read,4,0,0,8,32,0,0,8\n"
            "DRAM,B,dense,read,4,4,0,0,32,8,0,0\n");
  EXPECT_EQ(rows.back().action, "MAC");
  EXPECT_EQ(rows.back().made, 4);
  EXPECT_EQ(rows.back().skipped, 4);
  const PageTable table = action_table(problem, cost);
  EXPECT_EQ(table.rows.size(), rows.size());
  EXPECT_TRUE(std::all_of(table.rows.begin(), table.rows.end(),
                          [&](const auto& row) { return row.size() == table.columns.size(); }));
}

}  // namespace
}  // namespace mapsim::accesses_test
