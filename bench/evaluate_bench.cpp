// SPDX-License-Identifier: Apache-2.0
// Mappings per second and core. evaluate/fitting/...: mappings that fit their machine, costed
// whole; evaluate/sampled/...: a uniform sample of the mapspace, most of which does not fit, so
// that only its tiles and the output's accesses are counted; bulk/...: mappings of one structure,
// evaluated together, for structures of mappings that fit, fitting or with factors as drawn;
// count/...: the counts of the sample; simulate/...: the reference simulator, for scale.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/cases.hpp"
#include "bench/summary.hpp"
#include "core/rng.hpp"
#include "costmodel/bulk.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/reference/simulate.hpp"
#include "mapper/sampler.hpp"

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

// Bounds of mappings of one structure, as BulkEvaluator takes them: the prime factors of each dim
// spread over its loops at random, at least one each.
std::vector<double> draw_bounds(const mapsim::Problem& problem, const mapsim::Nest& nest,
                                std::size_t count, mapsim::Rng& rng) {
  std::vector<double> bounds(nest.loops.size() * count, 1);
  for (const mapsim::DimId d : problem.workload().dims.ids()) {
    std::vector<std::size_t> loops;
    for (std::size_t i = nest.innermost[d]; i != mapsim::kNoLoop; i = nest.loops[i].previous) {
      loops.push_back(i);
    }
    std::vector<std::int64_t> primes;
    for (std::int64_t p = 2, n = problem.workload().dims[d].bound; n > 1; ++p) {
      for (; n % p == 0; n /= p) {
        primes.push_back(p);
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < primes.size(); ++i) {
        std::swap(primes[i], primes[i + rng.below(primes.size() - i)]);
        const std::size_t loop = i < loops.size() ? i : rng.below(loops.size());
        bounds[loops[loop] * count + k] *= static_cast<double>(primes[i]);
      }
    }
  }
  return bounds;
}

// As many, but only those that fit, again and again.
std::vector<double> only_fitting(mapsim::BulkEvaluator& bulk, const std::vector<double>& bounds,
                                 std::size_t count) {
  std::vector<std::size_t> fit;
  const mapsim::BulkFigures& figures = bulk.evaluate(bounds, count);
  for (std::size_t k = 0; k < count; ++k) {
    if (std::isfinite(figures.energy_pj[k])) {
      fit.push_back(k);
    }
  }
  std::vector<double> chosen(fit.empty() ? 0 : bounds.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    chosen[i] = bounds[i / count * count + fit[i % count % fit.size()]];
  }
  return chosen;
}

void bulk(benchmark::State& state, const std::string& layer, bool fitting) {
  constexpr std::size_t kStructures = 20;
  constexpr std::size_t kTogether = 1024;
  const mapsim::Problem problem = mapsim::bench::shipped_problem("eyeriss", "resnet50/" + layer);
  mapsim::Rng rng{kSeed};
  std::vector<std::pair<std::unique_ptr<mapsim::BulkEvaluator>, std::vector<double>>> work;
  for (const Mapping& mapping : sample(problem, true)) {
    auto evaluator = std::make_unique<mapsim::BulkEvaluator>(problem, mapping);
    const mapsim::Nest nest = make_nest(problem.workload(), mapping);
    std::vector<double> bounds = draw_bounds(problem, nest, kTogether, rng);
    if (fitting) {
      bounds = only_fitting(*evaluator, bounds, kTogether);
    }
    if (!bounds.empty() && work.size() < kStructures) {
      work.emplace_back(std::move(evaluator), std::move(bounds));
    }
  }
  if (work.empty()) {
    state.SkipWithError("no mapping that fits among those drawn");
    return;
  }
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(work[next].first->evaluate(work[next].second, kTogether));
    next = next + 1 == work.size() ? 0 : next + 1;
  }
  report(state, state.iterations() * static_cast<std::int64_t>(kTogether));
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
  for (const bool fitting : {true, false}) {
    for (const std::string& layer : mapsim::bench::resnet50_layers()) {
      const std::string name =
          std::string{"bulk/"} + (fitting ? "fitting" : "drawn") + "/eyeriss:" + layer;
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        bulk(state, layer, fitting);
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
