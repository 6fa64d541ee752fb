// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/tensor_use.hpp"

#include <gtest/gtest.h>

#include <string>

#include "workloads/load.hpp"

namespace mapsim::tensor_use_test {
namespace {

Workload einsum(const char* equation, const char* dims) {
  return parse_workload(
      std::string{"name: w\neinsum: {equation: \""} + equation + "\", dims: {" + dims + "}}\n",
      "w.yaml");
}

exact::TensorUse use_of_first(const Workload& workload) {
  return exact::use_of(workload, workload.tensors[TensorId{0}]);
}

TEST(TensorUse, KnowsWindowsWithAStep) {
  EXPECT_TRUE(use_of_first(einsum("O[p] += A[2*p+r] * W[r]", "p: 4, r: 3")).strides);
  EXPECT_TRUE(use_of_first(einsum("O[p] += A[p+3*r] * W[r]", "p: 4, r: 3")).strides);
  EXPECT_FALSE(use_of_first(einsum("O[p] += A[p+r] * W[r]", "p: 4, r: 3")).strides);
  // Every second coordinate only: the step is none
  EXPECT_FALSE(use_of_first(einsum("O[p] += A[2*p+2*r] * W[r]", "p: 4, r: 3")).strides);
  EXPECT_FALSE(use_of_first(einsum("O[p] += A[2*p] * W[r]", "p: 4, r: 3")).strides);
}

// Two elements meet once if they tell every index of the operation.
TEST(TensorUse, KnowsWhichElementsMeetOnce) {
  const auto meet = [](const Workload& workload) {
    return exact::meet_once(workload, exact::use_of(workload, workload.tensors[TensorId{0}]),
                            exact::use_of(workload, workload.tensors[TensorId{1}]));
  };
  EXPECT_TRUE(meet(einsum("O[p] += A[p+r] * W[r]", "p: 4, r: 3")));
  EXPECT_TRUE(meet(einsum("O[q] += A[p+r] * W[q]", "p: 1, q: 2, r: 3")));
  // Some p and r have one sum
  EXPECT_FALSE(meet(einsum("O[q] += A[p+r] * W[q]", "p: 4, q: 2, r: 3")));
  EXPECT_FALSE(meet(einsum("O[p][q] += A[p+r] * W[r]", "p: 4, q: 2, r: 3")));
}

}  // namespace
}  // namespace mapsim::tensor_use_test
