// SPDX-License-Identifier: Apache-2.0
// Kernels of the path mma, run on the CPU, equal Eigen's result, without a bank conflict.
#include <gmock/gmock.h>

#include <set>

#include "tests/validate/kernels/execution.hpp"

namespace mapsim::mma_test {
namespace {

TEST(MmaKernels, EqualEigenOnTheCpu) {
  const auto cases = mma_cases();
  const auto launches = mma_case_launches();
  ASSERT_EQ(cases.size(), launches.size());
  EXPECT_GE(cases.size(), 40u);
  std::set<std::string> names;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(names.insert(cases[i].name).second) << cases[i].name;
    SCOPED_TRACE(cases[i].name + ": " + to_string(cases[i].spec.kernel));
    Execution run{cases[i]};
    try {
      run.execute(launches[i], i % 2 == 1);
      EXPECT_EQ(run.difference(), "");
      // Copies of less than 16 B take turns, and so do sums whose rows are less than 128 B.
      const KernelSpec& spec = cases[i].spec;
      const bool is_narrow = spec.kernel.warp.n * sum_size(spec.problem.precision).count() < 128;
      const bool is_odd =
          kernel_source(case_gpu(cases[i].has_async), spec).entry.find("_align16x16x") ==
          std::string::npos;
      EXPECT_TRUE(is_narrow || is_odd || run.conflicts() == 0) << run.conflicts() << " conflicts";
    } catch (const KernelFault& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
}

// One text serves all problems of a tile.
TEST(MmaKernels, AreOfFewTexts) {
  const auto launches = mma_case_launches();
  const std::set<Launch> texts{launches.begin(), launches.end()};
  EXPECT_LE(texts.size() + 8, launches.size());
  EXPECT_EQ(kernel_source(case_gpu(true), mma_cases()[0].spec).text,
            kernel_source(case_gpu(true), mma_cases()[1].spec).text);
}

TEST(MmaKernels, OneBrokenLineIsFound) {
  const auto mutants = mma_mutants();
  const auto launches = mma_mutant_launches();
  ASSERT_EQ(mutants.size(), launches.size());
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    Execution run{mutants[i].on};
    std::string found;
    try {
      run.execute(launches[i], false);
      found = run.difference();
    } catch (const KernelFault& fault) {
      found = fault.what();
    }
    EXPECT_NE(found, "") << mutants[i].name;
  }
}

}  // namespace
}  // namespace mapsim::mma_test
