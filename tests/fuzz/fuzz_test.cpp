// SPDX-License-Identifier: Apache-2.0
// The readers that mapsim_fuzz tries for hours, on a few mutations of each seed: whatever the
// input, it is read, or refused with a ConfigError.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "core/diagnostic.hpp"
#include "tests/fuzz/targets.hpp"

namespace mapsim {

void PrintTo(const FuzzTarget& target, std::ostream* out) { *out << target.name; }

namespace {

class FuzzedReader : public ::testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzedReader, TakesItsSeeds) {
  const std::vector<std::string> seeds = seed_inputs(GetParam());
  EXPECT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) {
    EXPECT_NO_THROW(GetParam().read(seed)) << printable(seed.substr(0, 300));
  }
}

TEST_P(FuzzedReader, ReadsOrRefusesMutations) {
  const std::vector<std::string> seeds = seed_inputs(GetParam());
  Rng rng{1};
  int refused = 0;
  int read = 0;
  for (int i = 0; i < 120; ++i) {
    const std::string input = mutate(GetParam().form, one_of(seeds, rng), 10'000, rng);
    try {
      ++(accepts(GetParam(), input) ? read : refused);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << " of\n" << printable(input);
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, FuzzedReader, testing::ValuesIn(fuzz_targets()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace mapsim
