// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "report/table.hpp"

namespace mapsim {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

// Of A (as memory holds it), B and C, each once.
std::array<double, 3> tensor_bytes(const GemmProblem& problem) {
  const double batch = real(problem.batch);
  const double size = real(operand_size(problem.precision).count());
  const double c = batch * real(problem.m) * real(problem.n) * real(problem.output.count());
  return {batch * real(problem.stored_a.value_or(problem.m * problem.k)) * size,
          batch * real(problem.k) * real(problem.n) * size, problem.adds_to_output ? 2 * c : c};
}

double operations(const GemmProblem& problem) {
  return 2 * real(problem.batch) * real(problem.m) * real(problem.n) * real(problem.k);
}

}  // namespace

std::vector<GpuRoofline> gpu_rooflines(const Gpu& gpu, const GemmProblem& problem) {
  const GpuRate& rate = gpu.rate(problem.precision);
  const std::array<double, 3> tensors = tensor_bytes(problem);
  const double bytes = tensors[0] + tensors[1] + tensors[2];
  std::vector<GpuRoofline> result;
  for (const auto& [path, macs] :
       {std::pair{"tensor cores", rate.chip},
        {"WMMA", gpu.rate(problem.precision, GpuPath::kWmma)},
        {"without tensor cores", gpu.rate(problem.precision, GpuPath::kSimt)}}) {
    if (macs > 0) {
      const Peak peak{2 * macs * real(gpu.sms) * gpu.clock.count(), gpu.dram_bandwidth.count()};
      result.push_back({path, roofline_bound(operations(problem), bytes, peak), peak});
    }
  }
  return result;
}

std::string gpu_roofline_text(const Gpu& gpu, const Workload& workload,
                              const GemmProblem& problem) {
  const std::array<double, 3> tensors = tensor_bytes(problem);
  std::string text = fmt::format(
      "{} on {}: GEMM of {}{} x {} x {}, {}\n  {} operations; A {}, B {}, C {}, each once at "
      "{}\n\n",
      workload.name, gpu.name, problem.batch > 1 ? fmt::format("{} times ", problem.batch) : "",
      problem.m, problem.n, problem.k, to_string(problem.precision),
      scaled(operations(problem), ""), bytes_text(Bits{static_cast<std::int64_t>(8 * tensors[0])}),
      bytes_text(Bits{static_cast<std::int64_t>(8 * tensors[1])}),
      bytes_text(Bits{static_cast<std::int64_t>(8 * tensors[2])}),
      scaled(gpu.dram_bandwidth.count(), "B/s"));
  std::vector<Row> rows{{"", "peak", "op/B", "ridge", "math", "memory", "limited by", "at least"}};
  for (const GpuRoofline& line : gpu_rooflines(gpu, problem)) {
    const RooflineBound& bound = line.bound;
    rows.push_back({line.path, scaled(line.peak.ops_per_second, "op/s"), ratio(bound.intensity),
                    ratio(bound.ridge), scaled(bound.compute.count(), "s"),
                    scaled(bound.transfer.count(), "s"), to_string(bound.limiter),
                    scaled(bound.time().count(), "s")});
  }
  return text + table(rows);
}

}  // namespace mapsim
