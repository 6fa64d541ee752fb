// SPDX-License-Identifier: Apache-2.0
// fuzz_counts --seconds N --seed S: compares the closed form with the simulator on fresh random
// cases for as long as one likes; stops at the first mismatch, shrinks it and exits with 1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/random_case.hpp"
#include "tests/costmodel/shrink.hpp"

namespace {

using Clock = std::chrono::steady_clock;

int fuzz(double seconds, std::uint64_t seed) {
  constexpr std::uint64_t kReportEvery = 50'000;
  const Clock::time_point start = Clock::now();
  std::uint64_t cases = 0;
  double elapsed = 0;
  for (; elapsed < seconds; ++cases) {
    const mapsim::RandomCase random = mapsim::random_case(seed + cases);
    if (!mapsim::count_mismatch(random).empty()) {
      const mapsim::RandomCase smallest = mapsim::shrink(
          random, [](const mapsim::RandomCase& c) { return !mapsim::count_mismatch(c).empty(); });
      fmt::print("seed {}: {}\nshrunk to: {}\n{}", seed + cases, mapsim::count_mismatch(random),
                 mapsim::count_mismatch(smallest), mapsim::describe(smallest));
      return 1;
    }
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if ((cases + 1) % kReportEvery == 0) {
      fmt::print("{} cases, {:.0f} cases/s\n", cases + 1, static_cast<double>(cases + 1) / elapsed);
      std::fflush(stdout);
    }
  }
  fmt::print("{} cases from seed {}, no mismatch\n", cases, seed);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Compares count() with simulate() on random cases"};
  double seconds = 60;
  std::uint64_t seed = 1'000'000;
  app.add_option("--seconds", seconds, "how long to run");
  app.add_option("--seed", seed, "the first case's seed");
  CLI11_PARSE(app, argc, argv);
  return fuzz(seconds, seed);
}
