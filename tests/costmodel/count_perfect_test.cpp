// SPDX-License-Identifier: Apache-2.0
#include "costmodel/count_perfect.hpp"

#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/simulate.hpp"
#include "workloads/load.hpp"

namespace mapsim::count_perfect_test {
namespace {

constexpr const char* kTwoArrays = R"(
name: two_arrays
nodes:
  - storage: L0
    capacity: unlimited
    energy: {read: 1 pJ/b, write: 1 pJ/b}
  - fanout: F0
    x: 4
    multicast: [input]
  - fanout: F1
    x: 4
    y: 2
    multicast: [input]
    forwarding: false
  - compute: MAC
    energy: 1 pJ
    register_reuse: [input, weight]
)";

// The array that does not forward cuts no window dim, yet it keeps the union of the one that does
// from moving as one: 18 reads, not 10.
TEST(CountPerfect, AsksEveryMergingFanoutToForward) {
  const Arch arch = parse_arch(kTwoArrays, "arch.yaml");
  const Workload workload = parse_workload(
      "name: w\neinsum:\n  equation: O[k][q] += I[c][q+s] * W[k][c][s]\n"
      "  dims: {k: 2, c: 2, q: 3, s: 3}\n",
      "workload.yaml");
  const Mapping mapping = parse_mapping(
      "mapping:\n  - keep L0: [I, W, O]\n  - for q: 1\n  - parallel s: 1 over X of F0\n"
      "  - parallel c: 1 over X of F1\n  - parallel k: 1 over Y of F1\n",
      "mapping.yaml", arch, workload);
  const Problem problem(arch, workload);
  const Counts counts = count(problem, mapping);
  EXPECT_EQ(counts.levels[LevelId{0}][TensorId{0}].total.reads, 18);
  EXPECT_EQ(counts, simulate(problem, mapping, random_operands(workload, 1), 1000).counts);
}

}  // namespace
}  // namespace mapsim::count_perfect_test
