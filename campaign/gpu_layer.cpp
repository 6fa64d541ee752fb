// SPDX-License-Identifier: Apache-2.0
#include "campaign/gpu_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "report/gpu.hpp"
#include "report/widths.hpp"

namespace mapsim {
namespace {

// mW x s = 1e9 pJ.
Picojoules over(Milliwatts power, Seconds time) {
  return Picojoules{power.count() * time.count() * 1e9};
}

Picojoules of_passes(const Gpu& gpu, const GemmForm& form, Seconds time) {
  double bytes = 0;
  for (const ExtraPass& pass : form.passes) {
    bytes += pass.bytes;
  }
  return Picojoules{8 * bytes * gpu.energy.dram.count()} + over(gpu.energy.constant, time);
}

std::string tile_text(const GemmTile& tile) {
  return fmt::format("[{}, {}, {}]", tile.m, tile.n, tile.k);
}

}  // namespace

GpuLayer fastest_kernel(const Gpu& gpu, const Workload& workload, const GpuLayerOptions& options,
                        SearchEnd end) {
  GpuLayer layer;
  auto forms = gemm_forms(gpu, workload, options.request);
  if (const auto* reason = std::get_if<std::string>(&forms)) {
    layer.problem = *reason;
    return layer;
  }
  for (GemmForm& form : std::get<0>(forms)) {
    form.problem.adds_to_output = options.adds_to_output;
  }
  GpuSearchOptions search;
  search.path = options.path;
  search.top = 1;
  search.stop = options.stop;
  search.end = end;
  GpuSearchResult result = search_kernels(gpu, std::get<0>(forms), search);
  layer.considered = result.considered;
  if (result.ranked.empty()) {
    layer.problem = "no kernel is legal";
    return layer;
  }
  RankedKernel& best = result.ranked.front();
  layer.form = std::move(result.forms[best.form]);
  const GpuJoules& joules = best.estimate.energy;
  layer.parts = {{"MACs", joules.mma},
                 {"issue", joules.instructions},
                 {"registers", joules.registers},
                 {"shared", joules.shared},
                 {"L2", joules.l2},
                 {"DRAM", joules.dram},
                 {"constant", joules.constant}};
  layer.energy = joules.total;
  if (!layer.form.passes.empty()) {
    layer.parts.emplace_back("passes", of_passes(gpu, layer.form, best.passes));
    layer.energy += layer.parts.back().second;
  }
  layer.utilization = best.estimate.mma_share * (1 - best.passes.count() / best.total.count());
  layer.kernel = std::move(best);
  return layer;
}

GpuLayerRoofline gpu_layer_roofline(const Gpu& gpu, const Workload& workload,
                                    const GpuLayer& layer) {
  const GemmProblem& problem = layer.form.problem;
  const std::vector<GpuRoofline> lines = gpu_rooflines(gpu, problem);
  const auto highest =
      std::max_element(lines.begin(), lines.end(), [](const GpuRoofline& a, const GpuRoofline& b) {
        return a.peak.ops_per_second < b.peak.ops_per_second;
      });
  const double bytes = highest->bound.transfer.count() * highest->peak.bytes_per_second;
  return {2 * workload.macs(), bytes, highest->peak};
}

std::string kernel_file(const GpuLayer& layer) {
  const GemmProblem& problem = layer.form.problem;
  const KernelChoice& kernel = layer.kernel->kernel;
  std::string text = fmt::format("# GEMM of {}{} x {} x {}, {}: {}\n",
                                 problem.batch > 1 ? fmt::format("{} times ", problem.batch) : "",
                                 problem.m, problem.n, problem.k, to_string(problem.precision),
                                 widths_text(widths_of(problem)));
  for (const std::string& note : layer.form.notes) {
    text += fmt::format("# {}\n", note);
  }
  return text + fmt::format(
                    "kernel: {{path: {}, block: {}, warp: [{}, {}], fragment: {}, stages: {}, "
                    "split_k: {}, raster: {}, padding: {}, cluster: {}}}\n",
                    to_string(kernel.path), tile_text(kernel.block), kernel.warp.m, kernel.warp.n,
                    tile_text(kernel.fragment), kernel.stages, kernel.split_k, kernel.raster,
                    kernel.padding, kernel.cluster);
}

GpuStream stream_on_gpu(const Gpu& gpu, const GpuLayerOptions& options, const Stream& stream) {
  const GpuCalibration calibration =
      gpu.calibration(options.request.precision.value_or(GpuPrecision::kF16), GpuPath::kSimt);
  const double bits = static_cast<double>(stream.in.count() + stream.out.count());
  GpuStream result;
  result.latency = calibration.launch + calibration.ramp +
                   Seconds{bits / 8 / (calibration.dram * gpu.dram_bandwidth.count())};
  result.energy =
      Picojoules{bits * gpu.energy.dram.count()} + over(gpu.energy.constant, result.latency);
  return result;
}

}  // namespace mapsim
