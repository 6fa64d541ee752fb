// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "interop/accelforge.hpp"

namespace mapsim::accelforge_workload_test {
namespace {

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

}  // namespace
}  // namespace mapsim::accelforge_workload_test
