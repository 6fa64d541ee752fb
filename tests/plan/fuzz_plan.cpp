// SPDX-License-Identifier: Apache-2.0
// Compares shortest_path() with all plans of random problems: fuzz_plan FIRST COUNT.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "tests/plan/random_plan.hpp"

int main(int argc, char** argv) {
  using namespace mapsim;
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  std::int64_t plans = 0;
  int wrong = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string problem = compare_with_all_plans(seed, plans);
    if (!problem.empty()) {
      ++wrong;
      fmt::print("seed {}: {}\n", seed, problem);
      std::fflush(stdout);
    }
  }
  fmt::print("{} problems, {} with a plan, {} wrong\n", count, plans, wrong);
  return wrong > 0 ? 1 : 0;
}
