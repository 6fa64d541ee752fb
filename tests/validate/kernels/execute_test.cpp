// SPDX-License-Identifier: Apache-2.0
// Generated kernels, run on the CPU, equal Eigen's result exactly.
#include <gmock/gmock.h>

#include <set>

#include "tests/validate/kernels/execution.hpp"

namespace mapsim::execute_test {
namespace {

TEST(GeneratedKernels, EqualEigenOnTheCpu) {
  const auto cases = kernel_cases();
  const auto launches = case_launches();
  ASSERT_EQ(cases.size(), launches.size());
  EXPECT_GE(cases.size(), 60u);
  std::set<std::string> names;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(names.insert(cases[i].name).second) << cases[i].name;
    SCOPED_TRACE(cases[i].name + ": " + to_string(cases[i].spec.kernel));
    Execution run{cases[i]};
    try {
      run.execute(launches[i], i % 2 == 1);
      EXPECT_EQ(run.difference(), "");
    } catch (const KernelFault& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
}

// Blocks run along M within groups of `raster` columns of blocks, the last group narrower; 0: row
// by row. The model's rectangle of a wave rests on it.
TEST(GeneratedKernels, NumberTheirBlocksAsTheModelSays) {
  const auto cases = kernel_cases();
  const auto launches = case_launches();
  int seen = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].name.rfind("raster_", 0) != 0) {
      continue;
    }
    Execution run{cases[i]};
    run.execute(launches[i], false);
    const GemmProblem& problem = run.spec.problem;
    const KernelChoice& kernel = run.spec.kernel;
    const std::int64_t columns = (problem.n + kernel.block.n - 1) / kernel.block.n;
    const std::int64_t group = kernel.raster == 0 ? columns : kernel.raster;
    std::vector<std::int64_t> expected;
    for (std::int64_t first = 0; first < columns; first += group) {
      for (std::int64_t m = 0; m < problem.m; m += kernel.block.m) {
        for (std::int64_t n = first; n < std::min(first + group, columns); ++n) {
          expected.push_back((m * problem.n + n * kernel.block.n) * problem.output.count());
        }
      }
    }
    EXPECT_EQ(run.first_written(), expected) << cases[i].name;
    ++seen;
  }
  EXPECT_EQ(seen, 4);
}

// The emulation sees what it is there for: a kernel with one line broken gives a wrong result, or
// does what it may not.
TEST(GeneratedKernels, OneBrokenLineIsFound) {
  const auto mutants = kernel_mutants();
  const auto launches = mutant_launches();
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
}  // namespace mapsim::execute_test
