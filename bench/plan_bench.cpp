// SPDX-License-Identifier: Apache-2.0
// Plans and GPU kernels. CPU seconds of one thread to the best plan of a network on a chip, prices
// of its layers included; and to the ten best kernels of a GEMM, with how many times as long
// costing each kernel of the set takes in the same run.
#include <benchmark/benchmark.h>

#include <ctime>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "arch/gpu_load.hpp"
#include "bench/summary.hpp"
#include "costmodel/gpu/convolution.hpp"
#include "mapper/gpu/search.hpp"
#include "plan/plan.hpp"
#include "workloads/gemm.hpp"

namespace {

using mapsim::GpuPath;
using mapsim::GpuPrecision;

const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void find_plan(benchmark::State& state, const mapsim::Soc& soc, const mapsim::Network& network) {
  for ([[maybe_unused]] const auto& iteration : state) {
    const mapsim::PlanAnswer plan = mapsim::make_plan(soc, network, {}, soc.name, network.name);
    state.counters["groups"] = static_cast<double>(plan.plan.groups.size());
    state.counters["searches"] = static_cast<double>(plan.searches.count);
  }
}

void rank_kernels(benchmark::State& state, const mapsim::Gpu& gpu,
                  const std::vector<mapsim::GemmForm>& forms) {
  double found = 0;
  double all = 0;
  for ([[maybe_unused]] const auto& iteration : state) {
    const double start = cpu_seconds();
    const mapsim::GpuSearchResult result = mapsim::search_kernels(gpu, forms, {});
    const double between = cpu_seconds();
    for (const mapsim::GemmForm& form : forms) {
      for (const GpuPath path : {GpuPath::kSimt, GpuPath::kMma, GpuPath::kWgmma}) {
        const mapsim::GpuCalibration calibration = gpu.calibration(form.problem.precision, path);
        for (const mapsim::KernelChoice& kernel :
             (path == GpuPath::kSimt) == form.tensor_cores
                 ? std::vector<mapsim::KernelChoice>{}
                 : mapsim::kernel_set(gpu, form.problem, path)) {
          if (!mapsim::illegal(gpu, form.problem, kernel)) {
            benchmark::DoNotOptimize(mapsim::estimate(gpu, calibration, form.problem, kernel));
          }
        }
      }
    }
    found += between - start;
    all += cpu_seconds() - between;
    state.SetIterationTime(between - start);
    state.counters["legal"] = static_cast<double>(result.legal);
  }
  state.counters["all_over_search"] = all / found;
}

void add_all() {
  for (const char* chip : {"jetson_agx_orin", "jetson_agx_xavier", "teaching_chip"}) {
    const mapsim::Soc soc = mapsim::load_soc(kConfigs + "soc/" + chip + ".yaml", {kConfigs});
    for (const char* name :
         {"resnet50", "googlenet", "mobilenet_v2", "bert_large_128", "llama3_8b"}) {
      const bool has_words = name[0] == 'b' || name[0] == 'l';
      if (has_words && std::string{chip} == "teaching_chip") {
        continue;  // it has no engine for them
      }
      const mapsim::Network network =
          mapsim::load_network(kConfigs + "networks/graphs/" + name + ".yaml");
      benchmark::RegisterBenchmark(
          (std::string{"plan_"} + chip + ":" + name).c_str(),
          [soc, network](benchmark::State& state) { find_plan(state, soc, network); })
          ->Unit(benchmark::kMillisecond)
          ->Iterations(1);
    }
  }
  for (const char* chip : {"t4", "a100_80gb", "h200"}) {
    const mapsim::Gpu gpu = mapsim::load_gpu(kConfigs + "arch/" + chip + ".yaml");
    for (const auto& [name, m, n, k] : {std::tuple{"square", 4096, 4096, 4096},
                                        {"tokens", 197, 768, 3072},
                                        {"words", 512, 50'257, 768},
                                        {"skinny", 1, 4096, 4096}}) {
      mapsim::GpuRequest request;
      request.precision = GpuPrecision::kF16;
      const auto forms = std::get<0>(
          mapsim::gemm_forms(gpu, mapsim::gemm("g", {m, n, k, std::nullopt, false}), request));
      benchmark::RegisterBenchmark(
          (std::string{"kernels_"} + chip + ":" + name).c_str(),
          [gpu, forms](benchmark::State& state) { rank_kernels(state, gpu, forms); })
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime()
          ->Iterations(3);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return mapsim::bench::run(argc, argv, add_all); }
