// SPDX-License-Identifier: Apache-2.0
// Time to the proven optimum of every distinct ResNet-50 layer. given/...: spatial unrolling given,
// one thread; searched/...: all unrollings, all threads (OMP_NUM_THREADS); front/...: their fronts
// of energy and latency; imperfect/...: with imperfect factors, and the gap that is left after 30
// s.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstdlib>
#include <string>

#include "bench/cases.hpp"
#include "bench/summary.hpp"
#include "mapper/front.hpp"
#include "mapper/mapper.hpp"

namespace {

using mapsim::Objective;
using mapsim::bench::Goal;
using mapsim::bench::kGoals;

struct Machine {
  const char* name;
  bool given;     // with an unrolling given
  bool searched;  // with all of them
};
constexpr Machine kMachines[]{{"eyeriss", true, true},
                              {"nvdla_like_1024", true, true},
                              {"square_3_levels", true, true},
                              {"square_5_levels", true, true}};

// Machines that are deep and wide, and layers that they take.
constexpr const char* kWideMachines[]{"busy_3_levels", "simba_package", "tpu_pod_like", "gpu_like"};
constexpr const char* kWideLayers[]{"resnet50/conv4_1x1a", "gemm/512", "bert_base/ffn_up"};
constexpr const char* kFrontMachines[]{"eyeriss", "simba_like", "shidiannao_like",
                                       "square_3_levels", "square_5_levels"};
constexpr const char* kFrontLayers[]{"resnet50/conv2_3x3", "resnet50/conv4_1x1a"};

constexpr const char* kImperfectMachines[]{"eyeriss", "nvdla_like_1024"};
constexpr double kMostSeconds = 30;

// The square machines' given unrolling needs 16 channels on either side.
bool has_given(const std::string& machine, const std::string& layer) {
  return !machine.starts_with("square") || (layer != "conv1" && layer != "fc");
}

void search(benchmark::State& state, const std::string& machine, const std::string& layer,
            bool given, Objective objective) {
  const mapsim::Problem problem = mapsim::bench::shipped_problem(machine, layer);
  const mapsim::Constraints constraints =
      given ? mapsim::bench::given_unrolling(problem, layer.substr(layer.find('/') + 1))
            : mapsim::Constraints{};
  mapsim::SearchOptions options;
  options.objective = objective;
  options.threads = given ? 1 : omp_get_max_threads();
  mapsim::SearchResult result;
  for ([[maybe_unused]] auto _ : state) {
    const mapsim::Mapspace space{problem, constraints};
    result = mapsim::search_exact(space, options);
  }
  if (!result.cost || result.certificate.status != mapsim::Proof::kOptimal) {
    state.SkipWithError("no proven optimum");
    return;
  }
  state.counters["optimum"] = mapsim::objective_value(objective, *result.cost);
  state.counters["labels"] = static_cast<double>(result.statistics.labels);
  state.counters["states"] = static_cast<double>(result.statistics.states);
  state.counters["unrollings"] = static_cast<double>(result.statistics.unrollings);
  state.counters["mapspace"] = std::strtod(result.certificate.mapspace_size.c_str(), nullptr);
}

void search_front(benchmark::State& state, const std::string& machine, const std::string& layer) {
  const mapsim::Problem problem = mapsim::bench::shipped_problem(machine, layer);
  mapsim::SearchOptions options;
  options.threads = omp_get_max_threads();
  mapsim::Front front;
  for ([[maybe_unused]] auto _ : state) {
    front = mapsim::search_front(mapsim::Mapspace{problem, {}}, options);
  }
  if (!front.complete) {
    state.SkipWithError("no proven front");
    return;
  }
  state.counters["optimum"] = front.points.front().value;
  state.counters["points"] = static_cast<double>(front.points.size());
  state.counters["labels"] = static_cast<double>(front.statistics.labels);
  state.counters["states"] = static_cast<double>(front.statistics.states);
  state.counters["unrollings"] = static_cast<double>(front.statistics.unrollings);
}

// What is proven in half a minute.
void search_imperfect(benchmark::State& state, const std::string& machine,
                      const std::string& layer) {
  const mapsim::Problem problem = mapsim::bench::shipped_problem(machine, layer);
  mapsim::Constraints constraints;
  constraints.factors.imperfect = true;
  mapsim::SearchOptions options;
  options.threads = omp_get_max_threads();
  options.budget.seconds = kMostSeconds;
  mapsim::SearchResult result;
  for ([[maybe_unused]] auto _ : state) {
    result = mapsim::search_exact(mapsim::Mapspace{problem, constraints}, options);
  }
  if (!result.cost) {
    state.SkipWithError("nothing found");
    return;
  }
  const double value = result.cost->energy.total.count();
  state.counters["optimum"] = value;
  state.counters["gap"] = value / result.certificate.lower_bound - 1;
  const auto& but_for_free_boundaries = result.certificate.bound_but_for_free_boundaries;
  state.counters["but for bare"] =
      value / but_for_free_boundaries.value_or(result.certificate.lower_bound) - 1;
}

void register_search(const std::string& machine, const std::string& layer, bool given,
                     const Goal& goal) {
  const std::string name = std::string{given ? "given/" : "searched/"} + machine + "/" + goal.name +
                           ":" + layer.substr(layer.find('/') + 1);
  auto* registered = benchmark::RegisterBenchmark(
      name.c_str(), [=, objective = goal.objective](benchmark::State& state) {
        search(state, machine, layer, given, objective);
      });
  registered->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
  if (given) {
    registered->MinTime(0.2);
  } else {
    registered->Iterations(1);
  }
}

void register_front(const std::string& machine, const std::string& layer) {
  const std::string name = "front/" + machine + ":" + layer.substr(layer.find('/') + 1);
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { search_front(state, machine, layer); })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime()
      ->MeasureProcessCPUTime()
      ->Iterations(1);
}

void register_wide() {
  for (const char* machine : kWideMachines) {
    for (const char* layer : kWideLayers) {
      for (const Goal& goal : kGoals) {
        register_search(machine, layer, false, goal);
      }
      register_front(machine, layer);
    }
  }
  for (const char* machine : kFrontMachines) {
    for (const char* layer : kFrontLayers) {
      register_front(machine, layer);
    }
  }
}

void register_searches() {
  register_wide();
  register_search("tpu_v1_like", "gemm/4096", true, kGoals[0]);
  register_search("tpu_v1", "llama_7b/decode_ffn_up", false, kGoals[2]);  // wide, few labels
  register_search("slow_ports", "vgg16/conv3_2", false, kGoals[1]);       // EDP
  register_search("slow_ports", "gemm/512", false, kGoals[2]);            // latency
  for (const char* machine : kImperfectMachines) {
    for (const std::string& layer : mapsim::bench::resnet50_layers()) {
      benchmark::RegisterBenchmark(
          ("imperfect/" + std::string{machine} + "/energy:" + layer).c_str(),
          [=](benchmark::State& state) { search_imperfect(state, machine, "resnet50/" + layer); })
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime()
          ->MeasureProcessCPUTime()
          ->Iterations(1);
    }
  }
  for (const bool given : {true, false}) {
    for (const Machine& machine : kMachines) {
      for (const Goal& goal : kGoals) {
        for (const std::string& layer : mapsim::bench::resnet50_layers()) {
          if (given ? machine.given && has_given(machine.name, layer) : machine.searched) {
            register_search(machine.name, "resnet50/" + layer, given, goal);
          }
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return mapsim::bench::run(argc, argv, register_searches); }
