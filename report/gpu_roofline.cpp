// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "core/arithmetic.hpp"
#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "report/table.hpp"
#include "report/widths.hpp"

namespace mapsim {
namespace {

// To and from memory, each once.
std::array<double, 3> least_traffic(const GemmProblem& problem) {
  std::array<double, 3> bytes = matrix_bytes(problem);
  bytes[2] *= problem.adds_to_output ? 2 : 1;
  return bytes;
}

double operations(const GemmProblem& problem) {
  return 2 * real(problem.batch) * real(problem.m) * real(problem.n) * real(problem.k);
}

}  // namespace

std::vector<GpuRoofline> gpu_rooflines(const Gpu& gpu, const GemmProblem& problem) {
  const GpuRate& rate = gpu.rate(problem.precision);
  const std::array<double, 3> tensors = least_traffic(problem);
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
  const std::array<double, 3> tensors = least_traffic(problem);
  std::string text = fmt::format(
      "{} on {}: GEMM of {}{} x {} x {}, {}\n  {} operations; A {}, B {}, C {}, each once at "
      "{}\n\n",
      workload.name, gpu.name, problem.batch > 1 ? fmt::format("{} times ", problem.batch) : "",
      problem.m, problem.n, problem.k, to_string(problem.precision),
      scaled(operations(problem), ""), bytes_text(Bits{static_cast<std::int64_t>(8 * tensors[0])}),
      bytes_text(Bits{static_cast<std::int64_t>(8 * tensors[1])}),
      bytes_text(Bits{static_cast<std::int64_t>(8 * tensors[2])}),
      scaled(gpu.dram_bandwidth.count(), "B/s"));
  text.insert(text.size() - 1, fmt::format("  {}\n", widths_text(widths_of(problem))));
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
