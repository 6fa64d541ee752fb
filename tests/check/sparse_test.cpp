// SPDX-License-Identifier: Apache-2.0
// Certificates of tensors with zeros: the checker derives every probability by its own products.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "mapper/mapper.hpp"
#include "proven.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

Problem problem_of(const char* format, const char* act, double density) {
  const std::string machine = fmt::format(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {{read: 20 pJ/word, write: 30 pJ/word, gated: 1 pJ/word}}\n"
      "    bandwidth: {{shared: 16 b/cycle}}\n    format: {{input: {0}, weight: bitmask}}\n"
      "    when_empty: [{{{1}: weight, on: input}}]\n"
      "  - fanout: PEs\n    x: 2\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: 200 b\n    fits: 90 %\n"
      "    energy: {{read: 2 pJ/word, write: 3 pJ/word}}\n"
      "    format: {{input: {0}, weight: bitmask}}\n"
      "    when_empty: [{{{1}: weight, on: input}}]\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {1}\n",
      format, act);
  return Problem{
      parse_arch(machine, "m.yaml"),
      parse_workload(
          fmt::format("name: w\ngemm: {{m: 8, n: 4, k: 8}}\ndensity: {{A: {}, B: 0.5}}\n", density),
          "w.yaml")};
}

TEST(SparseProofs, HoldAndDoNotHoldOfMoreNonzeros) {
  for (const char* format : {"bitmask", "coordinates 3 b", "runs 2 b", "csr", "ideal"}) {
    for (const char* act : {"skip", "gate"}) {
      for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
        const Problem problem = problem_of(format, act, 0.25);
        const Mapspace space{problem, Constraints{}};
        SearchOptions options;
        options.objective = objective;
        const SearchResult result = search_exact(space, options);
        ASSERT_TRUE(result.best);
        const std::string proof = certificate_file({"search", {}}, space, objective, result, 1);
        EXPECT_EQ(faults_of(proof), "") << format << ", " << act;
        // The same result claimed of another density is a lie.
        const Problem denser = problem_of(format, act, 0.75);
        const Mapspace other{denser, Constraints{}};
        EXPECT_NE(faults_of(certificate_file({"search", {}}, other, objective, result, 1)), "");
      }
    }
  }
}

}  // namespace
}  // namespace mapsim
