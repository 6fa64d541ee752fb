// SPDX-License-Identifier: Apache-2.0
// Compares search_design() with full sweeps of random spaces, checks the certificates of its
// answers, and compares enclosures of random boxes with their designs: fuzz_design FIRST COUNT.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "tests/design/random_space.hpp"

int main(int argc, char** argv) {
  using namespace mapsim;
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100;
  std::int64_t compared = 0;
  std::size_t designs = 0;
  int wrong = 0;
  int by_choice = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const RandomSpace space = random_space(seed);
    designs += space.campaign.designs();
    for (const std::string& problem :
         {compare_with_sweep(space, seed), compare_with_sweep(space, seed, &by_choice),
          compare_certificate(space, seed), compare_enclosures(space, seed, compared)}) {
      if (!problem.empty()) {
        ++wrong;
        fmt::print("seed {}: {}\n", seed, problem);
        std::fflush(stdout);
      }
    }
  }
  fmt::print(
      "{} spaces of {} designs, {} with mappings chosen by limits, {} layers on enclosures, {} "
      "wrong\n",
      count, designs, by_choice, compared, wrong);
  return wrong > 0 ? 1 : 0;
}
