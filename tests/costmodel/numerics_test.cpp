// SPDX-License-Identifier: Apache-2.0
// What a simulated machine computes is what Eigen computes.
#include <gtest/gtest.h>

#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/einsum_reference.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim::numerics_test {
namespace {

TEST(SimulatedOutput, EqualsEigensElementByElement) {
  constexpr std::uint64_t kFirstSeed = 500'000;
  constexpr std::uint64_t kCases = 500;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kCases; ++seed) {
    const RandomCase random = random_case(seed);
    const PerTensor<DenseTensor> operands = random_operands(random.workload, seed);
    const Simulation simulation =
        simulate({random.arch, random.workload}, random.mapping, operands, kMaxCaseMacs);
    const DenseTensor expected = einsum_by_eigen(random.workload, operands);
    ASSERT_EQ(simulation.output.shape, expected.shape) << "seed " << seed;
    ASSERT_EQ(simulation.output.values, expected.values) << "seed " << seed << '\n'
                                                         << describe(random);
  }
}

}  // namespace
}  // namespace mapsim::numerics_test
