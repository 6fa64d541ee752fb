// SPDX-License-Identifier: Apache-2.0
// Kernels of the path wgmma, run on the CPU, equal Eigen's result.
#include <gmock/gmock.h>

#include <set>

#include "tests/validate/kernels/execution.hpp"

namespace mapsim::wgmma_test {
namespace {

TEST(WgmmaKernels, EqualEigenOnTheCpu) {
  const auto cases = wgmma_cases();
  const auto launches = wgmma_case_launches();
  ASSERT_EQ(cases.size(), launches.size());
  EXPECT_GE(cases.size(), 40u);
  std::set<std::string> names;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(names.insert(cases[i].name).second) << cases[i].name;
    SCOPED_TRACE(cases[i].name + ": " + to_string(cases[i].spec.kernel));
    for (const bool last_first : {false, true}) {
      Execution run{cases[i]};
      try {
        run.execute(launches[i], last_first);
        EXPECT_EQ(run.difference(), "");
      } catch (const KernelFault& fault) {
        ADD_FAILURE() << fault.what();
      }
    }
  }
}

TEST(WgmmaKernels, OneBrokenLineIsFound) {
  const auto mutants = wgmma_mutants();
  const auto launches = wgmma_mutant_launches();
  ASSERT_EQ(mutants.size(), launches.size());
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    std::string found;
    for (const bool last_first : {false, true}) {
      Execution run{mutants[i].on};
      try {
        run.execute(launches[i], last_first);
        found += run.difference();
      } catch (const KernelFault& fault) {
        found += fault.what();
      }
    }
    EXPECT_NE(found, "") << mutants[i].name;
  }
}

}  // namespace
}  // namespace mapsim::wgmma_test
