// SPDX-License-Identifier: Apache-2.0
// Ranks of three dims: tiles obey rules about each of these dims, and take what all of them make.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "exact_check.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "random_space.hpp"
#include "workloads/load.hpp"

namespace mapsim::wide_rank_test {
namespace {

SearchCase wide_case(int capacity, const char* extents) {
  const std::string arch = fmt::format(
      "name: small\nnodes:\n"
      "  - {{storage: DRAM, capacity: unlimited, energy: {{read: 48 pJ/b, write: 16 pJ/b}}}}\n"
      "  - {{fanout: PEs, x: 2, multicast: [input, weight], spatial_reduction: true,\n"
      "     reduction_energy: 1 pJ}}\n"
      "  - {{storage: Buffer, capacity: {} B, energy: {{read: 2 pJ/B, write: 6 pJ/B}}}}\n"
      "  - {{compute: MAC, energy: 1 pJ}}\n",
      capacity);
  const std::string layer =
      "name: wide\neinsum:\n  equation: Z[p] += A[2*p+r+2*u] * B[r][u]\n"
      "  dims: {p: 3, r: 3, u: 2}\n  roles: {A: input, B: weight}\n"
      "precision: {A: 8 b, B: 8 b, Z: 8 b, partial: 8 b}\n";
  const std::string rules = fmt::format("mapspace: {{factors: imperfect{}}}", extents);
  Problem problem{parse_arch(arch, "arch"), parse_workload(layer, "layer")};
  Constraints constraints = parse_constraints(rules, "rules", problem);
  return {std::move(problem), std::move(constraints)};
}

TEST(WideRanks, ObeyRulesAndCapacities) {
  for (const int capacity : {3, 4, 5, 6, 8, 12, 40}) {
    for (const char* const extents :
         {"", ", extents: {Buffer: {A: {u: [1]}}}", ", extents: {Buffer: {A: {u: [2]}}}",
          ", extents: {Buffer: {A: {u: {min: 1, max: 1}, r: [2]}}}",
          ", extents: {Buffer: {A: {p: [2], u: [2]}, B: {u: [1]}}}"}) {
      EXPECT_EQ(exact_mismatch(wide_case(capacity, extents), false), "") << capacity << extents;
    }
  }
}

}  // namespace
}  // namespace mapsim::wide_rank_test
