// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "interop/accelforge.hpp"

namespace mapsim::accelforge_workload_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// A workload of one einsum.
std::string workload(const std::string& equation) {
  return "workload:\n  rank_sizes: {M: 8, K: 4, N: 3}\n  bits_per_value: {All: 8}\n  einsums:\n  "
         "- " +
         equation + "\n";
}

std::string complaint(const std::string& text) {
  try {
    parse_accelforge(text, "w.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ForgeWorkload, MayNameVariables) {
  const ForgeImport import = parse_accelforge(R"(variables: {SIDE: 8, BITS: SIDE * 2}
workload:
  rank_sizes: {M: SIDE, K: M / 2, N: 3}
  bits_per_value: {Outputs: BITS + SIDE, Other: BITS}
  n_instances: SIDE
  einsums: ["Z[m, n] = A[m, k] * B[k, n]"]
)",
                                              "w.yaml");
  const Workload& product = import.network->layers.at(0).workload;
  EXPECT_EQ(product.macs(), 8 * 4 * 3);
  EXPECT_EQ(product.tensors[*product.find_tensor("A")].bits, Bits{16});
  EXPECT_EQ(product.tensors[product.output()].bits, Bits{24});
  EXPECT_EQ(import.network->layers.at(0).count, 8);
}

TEST(ForgeWorkload, CountsOneAccessOfATensorThatStandsTwice) {
  const ForgeImport twice = parse_accelforge(workload("Z[m, n] = A[m, k] * A[k, n]"), "w.yaml");
  EXPECT_THAT(twice.notes, Contains(HasSubstr("w.yaml:5: Z: A stands twice in the equation; as "
                                              "in AccelForge, its one access is the last one")));
  EXPECT_EQ(twice.network->streams.at(0).in, Bits{8 * 4 * 3});
  const ForgeImport sum = parse_accelforge(workload("Z[m, n] = Z[m] + A[m, k]"), "w.yaml");
  EXPECT_THAT(sum.notes, Contains(HasSubstr("Z: Z stands twice in the equation; as in AccelForge, "
                                            "its one access is that of the output")));
  EXPECT_EQ(sum.network->streams.at(0).out, Bits{8 * 8 * 3});
}

TEST(ForgeWorkload, NamesWhatAnEquationHasBeyondItsProduct) {
  const auto noted = [](const std::string& operation) {
    return Contains(HasSubstr("no product, counted as one operation for each point: " + operation +
                              " (Z w.yaml:5)"));
  };
  EXPECT_THAT(parse_accelforge(workload("Z[m, n] = A[m, k] * B[k, n] + 3"), "w.yaml").notes,
              noted("+3"));
  EXPECT_THAT(complaint(workload("2 * Z[m, n] = A[m, k] * B[k, n]")),
              HasSubstr("is not of the form O[m, n] = I[m, k] * W[k, n]"));
}

}  // namespace
}  // namespace mapsim::accelforge_workload_test
