// SPDX-License-Identifier: Apache-2.0
// How many times as fast two threads find the proven optimum as one, over all unrollings of every
// distinct ResNet-50 layer. A round searches on one thread, on two, and twice at once on one thread
// each: what the last takes says whether the machine had two free cores just then. `ratio` is the
// median over the rounds that had (`rounds`), `cores` how much of two they were.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/cases.hpp"
#include "bench/summary.hpp"
#include "mapper/mapper.hpp"

namespace {

using mapsim::Objective;

constexpr const char* kMachines[]{"eyeriss", "nvdla_like_1024", "square_3_levels",
                                  "square_5_levels"};

constexpr int kRounds = 15;
// Two searches at once took as long as one, as far as that is: else one of the two was held up.
constexpr double kLeastCores = 1.9;
constexpr double kMostCores = 2.1;

void search(const mapsim::Problem& problem, const Objective& objective, int threads) {
  mapsim::SearchOptions options;
  options.objective = objective;
  options.threads = threads;
  const mapsim::Mapspace space{problem, {}};
  benchmark::DoNotOptimize(mapsim::search_exact(space, options));
}

template <class Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

void compare(benchmark::State& state, const std::string& machine, const std::string& layer,
             Objective objective) {
  const mapsim::Problem problem = mapsim::bench::shipped_problem(machine, layer);
  search(problem, objective, 2);  // threads have started
  std::vector<double> ratios;
  std::vector<double> cores;
  std::vector<double> alone;
  for ([[maybe_unused]] auto _ : state) {
    const double one = seconds([&] { search(problem, objective, 1); });
    const double two = seconds([&] { search(problem, objective, 2); });
    const double both = seconds([&] {
#pragma omp parallel num_threads(2)
      search(problem, objective, 1);
    });
    const double free = 2 * one / both;
    if (free >= kLeastCores && free <= kMostCores) {
      ratios.push_back(one / two);
      cores.push_back(free);
      alone.push_back(one);
    }
  }
  if (ratios.empty()) {
    state.SkipWithError("the machine never had two free cores");
    return;
  }
  state.counters["ratio"] = median(ratios);
  state.counters["cores"] = median(cores);
  state.counters["rounds"] = static_cast<double>(ratios.size());
  state.counters["seconds"] = median(alone);
}

void add_all() {
  for (const char* machine : kMachines) {
    for (const mapsim::bench::Goal& goal : mapsim::bench::kGoals) {
      for (const std::string& layer : mapsim::bench::resnet50_layers()) {
        benchmark::RegisterBenchmark((std::string{machine} + "/" + goal.name + ":" + layer).c_str(),
                                     [=, objective = goal.objective](benchmark::State& state) {
                                       compare(state, machine, "resnet50/" + layer, objective);
                                     })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime()
            ->Iterations(kRounds);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return mapsim::bench::run(argc, argv, add_all, mapsim::bench::SummaryReporter("ratio", "x"));
}
