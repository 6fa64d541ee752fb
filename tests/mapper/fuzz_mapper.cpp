// SPDX-License-Identifier: Apache-2.0
// fuzz_mapper --seconds N --seed S --max-size M [--imperfect] [--ruled] [--systolic] [--fronts]:
// compares the exact mapper with all mappings of fresh random spaces for as long as one likes;
// residences at the first mismatch, shrinks it, exits with 1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "exact_check.hpp"
#include "front_check.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "random_space.hpp"
#include "shrink_space.hpp"
#include "tests/costmodel/case_text.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// A case that fails and is small enough to be looked through again and again.
bool fails(const mapsim::SearchCase& random, std::int64_t max_size) {
  const mapsim::Workload& workload = random.problem.workload();
  const auto domains = mapsim::domains(workload, random.constraints.factors);
  for (const mapsim::DimId d : domains.ids()) {
    if (domains[d].back() > workload.dims[d].bound) {
      return false;  // an extent of its own that shrinking the bound has left behind
    }
  }
  const std::string size =
      mapsim::mapspace_size(mapsim::Mapspace{random.problem, random.constraints});
  return size.size() < 19 && std::stoll(size) <= max_size && size != "0" &&
         !mapsim::exact_mismatch(random).empty();
}

std::string objective_mismatch(const mapsim::SearchCase& random) {
  return mapsim::exact_mismatch(random);
}
std::string fronts_mismatch(const mapsim::SearchCase& random) {
  const std::string steady = mapsim::front_mismatch(random, mapsim::LatencyMode::kSteady);
  return steady.empty() ? mapsim::front_mismatch(random, mapsim::LatencyMode::kRamped) : steady;
}

// The best mapping of each objective by looking at all, and whether the simulator counts it alike.
std::string oracle_text(const mapsim::SearchCase& random) {
  const mapsim::Mapspace space{random.problem, random.constraints};
  std::string text;
  for (const mapsim::Objective objective : mapsim::kObjectives) {
    mapsim::SearchOptions options;
    options.objective = objective;
    const mapsim::SearchResult result = mapsim::search_exhaustive(space, options);
    if (result.best) {
      const mapsim::RandomCase best{random.problem.arch(), random.problem.workload(), *result.best};
      text += fmt::format("best: {}\n{}{}\n", mapsim::objective_value(objective, *result.cost),
                          mapsim::describe(best), mapsim::count_mismatch(best));
    }
  }
  return text;
}

int fuzz(double seconds, std::uint64_t seed, std::int64_t max_size,
         mapsim::SearchCase (*make)(std::uint64_t, std::int64_t), bool shrinks,
         std::string (*mismatch)(const mapsim::SearchCase&)) {
  constexpr std::uint64_t kReportEvery = 1'000;
  const Clock::time_point start = Clock::now();
  std::uint64_t cases = 0;
  double elapsed = 0;
  for (; elapsed < seconds; ++cases) {
    const mapsim::SearchCase random = make(seed + cases, max_size);
    const std::string wrong = mismatch(random);
    if (!wrong.empty() && !shrinks) {
      fmt::print("seed {}: {}\n", seed + cases, wrong);  // rules and fronts do not shrink
      return 1;
    }
    if (!wrong.empty()) {
      const mapsim::SearchCase smallest = mapsim::shrink(
          random, [max_size](const mapsim::SearchCase& c) { return fails(c, max_size); });
      fmt::print("seed {}: {}\nshrunk to: {}\n{}{}", seed + cases, wrong,
                 mapsim::exact_mismatch(smallest), mapsim::describe(smallest),
                 oracle_text(smallest));
      return 1;
    }
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    if ((cases + 1) % kReportEvery == 0) {
      fmt::print("{} cases, {:.0f} cases/s\n", cases + 1, static_cast<double>(cases + 1) / elapsed);
      std::fflush(stdout);
    }
  }
  fmt::print("{} cases from seed {}\n", cases, seed);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Compares the exact mapper with every mapping of random spaces"};
  double seconds = 60;
  std::uint64_t seed = 1'000'000;
  std::int64_t max_size = 50'000;
  app.add_option("--seconds", seconds, "how long to run");
  app.add_option("--seed", seed, "the first space's seed");
  app.add_option("--max-size", max_size, "mappings of a space, at most");
  bool imperfect = false;
  app.add_flag("--imperfect", imperfect, "spaces with imperfect factors");
  bool ruled = false;
  app.add_flag("--ruled", ruled, "with rules for unrollings, extents and loops");
  bool systolic = false;
  app.add_flag("--systolic", systolic, "with the timing of a systolic array");
  bool fronts = false;
  app.add_flag("--fronts", fronts, "the fronts of energy and latency instead of optima");
  bool show = false;
  app.add_flag("--show", show, "only say what the first space is");
  CLI11_PARSE(app, argc, argv);
  const auto make = imperfect && ruled ? mapsim::random_ruled_imperfect_space
                    : imperfect        ? mapsim::random_imperfect_space
                    : ruled            ? mapsim::random_ruled_space
                    : systolic         ? mapsim::random_systolic_space
                                       : mapsim::random_space;
  if (show) {
    fmt::print("{}", mapsim::describe(make(seed, max_size)));
    return 0;
  }
  return fuzz(seconds, seed, max_size, make, !ruled && !systolic && !fronts,
              fronts ? fronts_mismatch : objective_mismatch);
}
