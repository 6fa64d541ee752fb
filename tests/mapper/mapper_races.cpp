// SPDX-License-Identifier: Apache-2.0
// mapper_races --seconds N --seed S: searches random spaces on several threads, each in every way
// that threads share work, for ThreadSanitizer to watch (tools/find_races.py); exits with 1 where
// the result is another than that of one thread.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "mapper/front.hpp"
#include "mapper/mapper.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t kMostMappings = 20'000;

// What a search has found, as far as it depends on nothing but the space.
std::string found(const SearchResult& result) {
  return fmt::format("{} {}",
                     result.cost ? fmt::to_string(result.cost->energy.total.count()) : "nothing",
                     result.certificate.lower_bound);
}
std::string found(const Front& front) {
  std::string text;
  for (const FrontPoint& point : front.points) {
    text += fmt::format("{} {}\n", point.value, point.measure);
  }
  return text;
}

using Way = std::pair<std::string, std::function<std::string(const Mapspace&, SearchOptions)>>;
const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"exact",
       [](const auto& space, const auto& options) { return found(search_exact(space, options)); }},
      {"front",
       [](const auto& space, const auto& options) { return found(search_front(space, options)); }},
      {"exhaustive", [](const auto& space,
                        const auto& options) { return found(search_exhaustive(space, options)); }},
      {"random",
       [](const auto& space, const auto& options) { return found(search_random(space, options)); }},
      {"annealing", [](const auto& space,
                       const auto& options) { return found(search_annealing(space, options)); }},
      {"genetic", [](const auto& space, const auto& options) {
         return found(search_genetic(space, options));
       }}};
  return all;
}

// Empty: one thread and four find the same.
std::string difference(const Problem& problem, const Constraints& constraints,
                       const Objective& objective, std::size_t first_ways) {
  for (std::size_t w = 0; w < first_ways; ++w) {
    std::vector<std::string> results;
    for (const int threads : {1, 4}) {
      SearchOptions options;
      options.objective = objective;
      options.threads = threads;
      options.evaluations = 2'000;
      options.partial_folds = true;
      results.push_back(ways()[w].second(Mapspace{problem, constraints}, options));
    }
    if (results[0] != results[1]) {
      return fmt::format("{}: {} on one thread, {} on four", ways()[w].first, results[0],
                         results[1]);
    }
  }
  return "";
}

// A real layer: its graphs and bounds are large enough for tasks of their own.
std::string real_difference(const std::string& machine, const std::string& layer, bool imperfect,
                            const Objective& objective, std::size_t first_ways) {
  const std::string configs = source_path("configs/");
  const Problem problem{load_arch(configs + "arch/" + machine + ".yaml"),
                        load_workload(configs + "workloads/" + layer + ".yaml")};
  Constraints constraints;
  constraints.factors.imperfect = imperfect;
  const std::string wrong = difference(problem, constraints, objective, first_ways);
  return wrong.empty() ? "" : fmt::format("{} on {}: {}", layer, machine, wrong);
}

std::string random_difference(std::uint64_t seed) {
  const SearchCase random = seed % 3 == 0   ? random_imperfect_space(seed, kMostMappings)
                            : seed % 3 == 1 ? random_ruled_space(seed, kMostMappings)
                                            : random_space(seed, kMostMappings);
  const Objective objective = seed % 2 == 0 ? Objective::kEnergy : Objective::kEdp;
  // Random draws ask for perfect factors.
  const std::size_t first_ways = random.constraints.factors.imperfect ? 2 : ways().size();
  const std::string wrong = difference(random.problem, random.constraints, objective, first_ways);
  return wrong.empty() ? "" : fmt::format("seed {}: {}", seed, wrong);
}

int run(double seconds, std::uint64_t seed) {
  const Clock::time_point start = Clock::now();
  std::vector<std::string> wrong;
  const auto note = [&](std::string found) {
    if (!found.empty()) {
      wrong.push_back(std::move(found));
    }
  };
  note(real_difference("eyeriss", "alexnet/conv3", false, Objective::kEnergy, 2));
  note(real_difference("teaching", "teaching/conv", true, Objective::kEdp, 1));
  note(real_difference("systolic_32x32", "alexnet/conv5", false, Objective::kLatency, 1));
  std::uint64_t cases = 0;
  for (; std::chrono::duration<double>(Clock::now() - start).count() < seconds; ++cases) {
    note(random_difference(seed + cases));
  }
  for (const std::string& each : wrong) {
    fmt::print("{}\n", each);
  }
  fmt::print("3 layers and {} random spaces, {} differences\n", cases, wrong.size());
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace mapsim

int main(int argc, char** argv) {
  CLI::App app{"Searches random spaces on several threads, and compares with one"};
  double seconds = 60;
  std::uint64_t seed = 1;
  app.add_option("--seconds", seconds, "How long");
  app.add_option("--seed", seed, "Of the first space");
  CLI11_PARSE(app, argc, argv);
  return mapsim::run(seconds, seed);
}
