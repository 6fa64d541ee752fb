// SPDX-License-Identifier: Apache-2.0
// Optima that an independent implementation of the lattice search, itself checked against brute
// force, found on a machine of round numbers: DRAM 25 pJ/b, 1 Mb at 0.75 pJ/b, 4 kb at 0.0625 pJ/b,
// 0.5 pJ per MAC, 8-bit words throughout.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "arch/load.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "workloads/load.hpp"

namespace mapsim::published_optima_test {
namespace {

std::string machine(bool array, int shared_bits = 1'048'576, int own_bits = 4'096) {
  std::string text = R"(
name: round
nodes:
  - storage: DRAM
    capacity: unlimited
    energy: {read: 25 pJ/b, write: 25 pJ/b}
  - storage: GLB
    capacity: )" + std::to_string(shared_bits) +
                     R"( b
    energy: {read: 0.75 pJ/b, write: 0.75 pJ/b}
)";
  if (array) {
    text += "  - fanout: PEs\n    x: 8\n    y: 8\n    spatial_reduction: true\n";
  }
  return text + R"(  - storage: RF
    capacity: )" +
         std::to_string(own_bits) + R"( b
    energy: {read: 0.0625 pJ/b, write: 0.0625 pJ/b}
  - compute: MAC
    energy: 0.5 pJ
)";
}

std::string conv(int in_channels, int out_channels, int output, int kernel, int stride) {
  return "name: conv\nconv2d: {in_channels: " + std::to_string(in_channels) +
         ", out_channels: " + std::to_string(out_channels) + ", output: [" +
         std::to_string(output) + ", " + std::to_string(output) +
         "], kernel: " + std::to_string(kernel) + ", stride: " + std::to_string(stride) +
         "}\nprecision: {partial: 8 b}\n";
}

struct Known {
  std::string workload;
  std::string unrolling;  // empty: no array
  double energy_pj;
};

const std::string kGemm = "name: gemm\ngemm: {m: 512, n: 512, k: 512}\nprecision: {partial: 8 b}\n";

class PublishedOptima : public ::testing::TestWithParam<Known> {};

TEST_P(PublishedOptima, AreFoundAndProven) {
  const Known& known = GetParam();
  const Problem problem(parse_arch(machine(!known.unrolling.empty()), "machine.yaml"),
                        parse_workload(known.workload, "workload.yaml"));
  Constraints constraints;
  if (!known.unrolling.empty()) {
    constraints = parse_constraints("mapspace:\n  spatial: {PEs: " + known.unrolling + "}\n",
                                    "constraints.yaml", problem);
  }
  const SearchResult result = search_exact(Mapspace(problem, constraints), {});
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  EXPECT_DOUBLE_EQ(result.cost->energy.total.count(), known.energy_pj);
}

// Imperfect tiles, 171 of 512 in three, beat the divisors by 5.6 %.
TEST(PublishedOptima, OfImperfectFactorsIsFoundAndProven) {
  const Problem problem(parse_arch(machine(false), "machine.yaml"),
                        parse_workload(kGemm, "workload.yaml"));
  const Constraints constraints =
      parse_constraints("mapspace:\n  factors: imperfect\n", "constraints.yaml", problem);
  const SearchResult result = search_exact(Mapspace(problem, constraints), {});
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_DOUBLE_EQ(result.cost->energy.total.count(), 685'768'704);
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  EXPECT_EQ(result.certificate.bound_but_for_free_boundaries, std::nullopt);
  EXPECT_DOUBLE_EQ(result.certificate.lower_bound, 685'768'704);
  EXPECT_LT(result.statistics.labels, 20'000);
}

// Of few extents, 171 of 512 and then 16 would make 32 tiles where loops are forgotten. They are
// counted: there are 33.
TEST(PublishedOptima, OfFewExtentsIsProvenByCounting) {
  const Problem problem(parse_arch(machine(false), "machine.yaml"),
                        parse_workload(kGemm, "workload.yaml"));
  const Mapspace space(problem, parse_constraints("mapspace: {factors: imperfect, pieces: 6}\n",
                                                  "constraints.yaml", problem));
  for (const bool exact_ties : {false, true}) {
    SearchOptions options;
    options.objective.exact_ties = exact_ties;
    const Certificate proof = search_exact(space, options).certificate;
    EXPECT_EQ(proof.status, Proof::kOptimal);
    EXPECT_EQ(proof.bound_but_for_free_boundaries, std::nullopt);
    EXPECT_DOUBLE_EQ(proof.lower_bound, 714'735'616);
  }
}

// An array cuts two dims. What loops that end where nothing is kept may leave idle there is not
// known without their chains, of which there are too many; nor are ties among them proven.
TEST(PublishedOptima, OfImperfectFactorsLeaveTiesOpen) {
  const Problem problem(parse_arch(machine(true, 65'536, 2'048), "machine.yaml"),
                        parse_workload(kGemm, "workload.yaml"));
  const Mapspace space(problem, parse_constraints("mapspace: {factors: imperfect, pieces: 12, "
                                                  "spatial: {PEs: {X: {N: 5}, Y: {K: 8}}}}\n",
                                                  "constraints.yaml", problem));
  SearchOptions options;
  options.objective.exact_ties = true;
  const Certificate tied = search_exact(space, options).certificate;
  EXPECT_EQ(tied.status, Proof::kBounded);
  EXPECT_LT(tied.lower_bound, 1'212'284'928);
  EXPECT_GT(tied.lower_bound, 1'212'000'000);
  EXPECT_EQ(tied.bound_but_for_free_boundaries, 1'212'284'928);
  EXPECT_DOUBLE_EQ(tied.gap, 1'212'284'928 / tied.lower_bound - 1);
  options.objective = Objective::kLatency;
  const Certificate fastest = search_exact(space, options).certificate;
  EXPECT_EQ(fastest.status, Proof::kOptimal);
  EXPECT_EQ(fastest.lower_bound, 3'375'104);
  EXPECT_EQ(fastest.bound_but_for_free_boundaries, fastest.lower_bound);
}

INSTANTIATE_TEST_SUITE_P(
    Machine, PublishedOptima,
    testing::Values(Known{kGemm, "", 726'401'024}, Known{conv(64, 64, 56, 3, 1), "", 413'687'296},
                    Known{conv(64, 64, 56, 3, 1), "{X: {K: 8}, Y: {C: 8}}", 387'403'264},
                    Known{conv(64, 64, 56, 3, 1), "{X: {P: 8}, Y: {Q: 7}}", 337'673'728},
                    Known{conv(256, 256, 56, 3, 1), "", 6'291'535'872},
                    Known{conv(256, 256, 56, 3, 1), "{X: {K: 8}, Y: {C: 8}}", 5'798'871'040},
                    Known{conv(3, 64, 112, 7, 2), "", 532'261'850}));

}  // namespace
}  // namespace mapsim::published_optima_test
