// SPDX-License-Identifier: Apache-2.0
// Mappings per second and core. evaluate/fitting/...: mappings that fit their machine, costed
// whole; evaluate/sampled/...: a uniform sample of the mapspace, most of which does not fit, so
// that only its tiles and the output's accesses are counted; count/...: the counts of the sample;
// simulate/...: the reference simulator, for scale.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/cases.hpp"
#include "bench/summary.hpp"
#include "core/rng.hpp"
#include "costmodel/reference/simulate.hpp"
#include "mapper/baselines/sampler.hpp"

namespace {

using mapsim::Mapping;

constexpr std::size_t kMappings = 500;
constexpr std::uint64_t kSeed = 1;
constexpr std::int64_t kMaxDraws = 2'000'000;

// Drawn uniformly from the space of all perfect mappings; `fitting`: those that fit.
std::vector<Mapping> sample(const mapsim::Problem& problem, bool fitting) {
  const mapsim::Mapspace space{problem, {}};
  const mapsim::Sampler sampler{space};
  mapsim::Evaluator evaluator{problem};
  mapsim::Rng rng{kSeed};
  std::vector<Mapping> mappings;
  for (std::int64_t draw = 0; draw < kMaxDraws && mappings.size() < kMappings; ++draw) {
    Mapping mapping = sampler.sample(rng);
    if (!fitting || !evaluator.evaluate(mapping)) {
      mappings.push_back(std::move(mapping));
    }
  }
  return mappings;
}

void report(benchmark::State& state, std::int64_t mappings) {
  state.counters["mappings"] =
      benchmark::Counter(static_cast<double>(mappings), benchmark::Counter::kIsRate);
}

void evaluate(benchmark::State& state, const std::string& layer, bool fitting) {
  const mapsim::Problem problem = mapsim::bench::shipped_problem("eyeriss", "resnet50/" + layer);
  const std::vector<Mapping> mappings = sample(problem, fitting);
  if (mappings.empty()) {
    state.SkipWithError("no mapping that fits among those drawn");
    return;
  }
  mapsim::Evaluator evaluator{problem};
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(evaluator.evaluate(mappings[next]));
    next = next + 1 == mappings.size() ? 0 : next + 1;
  }
  report(state, state.iterations());
  state.counters["sample"] = static_cast<double>(mappings.size());
}

void count(benchmark::State& state, const std::string& layer) {
  const mapsim::Problem problem = mapsim::bench::shipped_problem("eyeriss", "resnet50/" + layer);
  const std::vector<Mapping> mappings = sample(problem, false);
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(mapsim::count(problem, mappings[next]));
    next = next + 1 == mappings.size() ? 0 : next + 1;
  }
  report(state, state.iterations());
}

void simulate(benchmark::State& state) {
  const mapsim::Problem problem = mapsim::bench::shipped_problem("teaching", "teaching/conv");
  const std::vector<Mapping> mappings = sample(problem, true);
  const auto operands = mapsim::random_operands(problem.workload(), kSeed);
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(
        mapsim::simulate(problem, mappings[next], operands, problem.workload().macs()));
    next = next + 1 == mappings.size() ? 0 : next + 1;
  }
  report(state, state.iterations());
}

void register_evaluations() {
  for (const bool fitting : {true, false}) {
    for (const std::string& layer : mapsim::bench::resnet50_layers()) {
      const std::string name =
          std::string{"evaluate/"} + (fitting ? "fitting" : "sampled") + "/eyeriss:" + layer;
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        evaluate(state, layer, fitting);
      })->MinTime(0.1);
    }
  }
  for (const std::string& layer : mapsim::bench::resnet50_layers()) {
    benchmark::RegisterBenchmark(("count/sampled/eyeriss:" + layer).c_str(),
                                 [=](benchmark::State& state) { count(state, layer); })
        ->MinTime(0.1);
  }
  benchmark::RegisterBenchmark("simulate/fitting/teaching:conv", simulate)->MinTime(0.1);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  register_evaluations();
  mapsim::bench::SummaryReporter reporter{"mappings"};
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
