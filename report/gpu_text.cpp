// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "report/table.hpp"

namespace mapsim {
namespace {

constexpr int kAfterWarp = 7;  // columns of the table of kernels up to there

std::string shape_text(const GemmProblem& problem) {
  return fmt::format("{}{} x {} x {}, {}",
                     problem.batch > 1 ? fmt::format("{} times ", problem.batch) : "", problem.m,
                     problem.n, problem.k, to_string(problem.precision));
}

double peak_tflops(const Gpu& gpu, double rate) {
  return 2e-12 * rate * static_cast<double>(gpu.sms) * gpu.clock.count();
}

// How far measured times may be from the predicted ones.
std::string trust_text(const GpuSearchResult& result) {
  const GpuCalibration& calibration = result.calibration;
  if (calibration.fitted_from.empty()) {
    return fmt::format(
        "  uncalibrated: how far off it is is not known for this chip and path; of the recorded "
        "sets 9 of 10 times were within a factor of {:.1f}\n",
        std::exp(calibration.error));
  }
  const Seconds first = result.ranked.empty() ? Seconds{0} : result.ranked.front().total;
  const bool is_known = calibration.longest.count() <= 0 ||
                        (first >= calibration.shortest && first <= calibration.longest);
  return fmt::format(
      "  calibrated on {}: 9 of 10 {}measured times are expected within a factor of {:.2f}{}\n",
      calibration.fitted_from, is_known ? "" : "of its ", std::exp(calibration.error),
      is_known
          ? ""
          : fmt::format("; the first is outside of them ({} to {}): how far off it is is not known",
                        scaled(calibration.shortest.count(), "s"),
                        scaled(calibration.longest.count(), "s")));
}

std::string head(const KernelReport& report, const GemmProblem& problem) {
  const GpuRate& rate = report.gpu.rate(problem.precision);
  std::string text = fmt::format("{} on {}: GEMM of {}\n", report.workload.name, report.gpu.name,
                                 shape_text(problem));
  const double wmma = report.gpu.rate(problem.precision, GpuPath::kWmma);
  text += fmt::format("  ceilings: tensor cores {:.0f}, {}without {:.0f} Tops/s\n",
                      peak_tflops(report.gpu, rate.chip),
                      wmma > 0 ? fmt::format("WMMA {:.0f}, ", peak_tflops(report.gpu, wmma)) : "",
                      peak_tflops(report.gpu, report.gpu.rate(problem.precision, GpuPath::kSimt)));
  return text + trust_text(report.result);
}

// WMMA alone has a choice of fragments and of padding.
bool has_wmma(const GpuSearchResult& result) {
  return std::any_of(result.ranked.begin(), result.ranked.end(),
                     [](const RankedKernel& r) { return r.kernel.path == GpuPath::kWmma; });
}

Row kernel_row(const RankedKernel& ranked, std::size_t rank, bool wmma) {
  const KernelChoice& kernel = ranked.kernel;
  const GpuEstimate& estimate = ranked.estimate;
  const GpuWork& work = ranked.work;
  Row row{
      fmt::format("{}{}", rank, ranked.as_good_as_first ? "=" : ""),
      scaled(ranked.total.count(), "s"),
      to_string(estimate.bound),
      percent(estimate.mma_share),
      kernel.cluster > 1 ? fmt::format("{} x{}", to_string(kernel.path), kernel.cluster)
                         : to_string(kernel.path),
      fmt::format("{}x{}x{}", kernel.block.m, kernel.block.n, kernel.block.k),
      fmt::format("{}x{}", kernel.warp.m, kernel.warp.n),
      fmt::format("{}", kernel.stages),
      fmt::format("{}", kernel.split_k),
      fmt::format("{}", kernel.raster),
      fmt::format("{}", work.resources.blocks_per_sm),
      fmt::format("{:.2f}",
                  static_cast<double>(work.waves.blocks) / static_cast<double>(work.waves.slots)),
      fmt::format("{}{}", work.resources.registers_measured ? "" : "~", work.resources.registers),
      bytes_text(Bits{8 * work.resources.shared.count()}),
      bytes_text(Bits{8 * static_cast<std::int64_t>(estimate.dram_bytes)}),
      energy_text(estimate.energy.total)};
  if (wmma) {
    row.insert(row.begin() + kAfterWarp,
               {fmt::format("{}x{}", kernel.fragment.m, kernel.fragment.n),
                fmt::format("{}", kernel.padding)});
  }
  return row;
}

std::string time_text(const RankedKernel& first) {
  const GpuTime& time = first.estimate.time;
  std::string text = "\nthe first kernel's time: ";
  for (const auto& [name, part] : {std::pair{"mma", time.mma},
                                   {"shared memory", time.shared},
                                   {"issue", time.issue},
                                   {"L2", time.l2},
                                   {"DRAM", time.dram},
                                   {"stalls", time.stall},
                                   {"first and last tiles", time.fill},
                                   {"sum of the slices", time.reduction},
                                   {"launch", time.launch},
                                   {"power limit", time.power},
                                   {"other passes", first.passes}}) {
    if (part.count() > 0.005 * first.total.count()) {
      text += fmt::format("{} {}, ", name, scaled(part.count(), "s"));
    }
  }
  return text + fmt::format("of these tail {}\n", scaled(time.tail.count(), "s"));
}

}  // namespace

std::string kernels_text(const KernelReport& report) {
  const GpuSearchResult& result = report.result;
  if (result.ranked.empty()) {
    return fmt::format("{} on {}: none of {} kernels is legal\n", report.workload.name,
                       report.gpu.name, grouped(result.considered));
  }
  const RankedKernel& first = result.ranked.front();
  const GemmForm& form = result.forms[first.form];
  std::string text = head(report, form.problem);
  for (const std::string& note : form.notes) {
    text += "  " + note + '\n';
  }
  for (const ExtraPass& pass : form.passes) {
    text += fmt::format("  another pass: {}\n", pass.what);
  }
  std::vector<Row> rows{{"rank", "time", "bound", "of peak", "path", "block", "warp", "stages",
                         "split", "raster", "per SM", "waves", "registers", "shared", "DRAM",
                         "energy"}};
  const bool wmma = has_wmma(result);
  if (wmma) {
    rows.front().insert(rows.front().begin() + kAfterWarp, {"fragment", "pad"});
  }
  for (std::size_t i = 0; i < result.ranked.size(); ++i) {
    rows.push_back(kernel_row(result.ranked[i], i + 1, wmma));
  }
  text += '\n' + table(rows);
  text += fmt::format(
      "\n=: as good as the first, which {} of {} legal kernels are ({} considered): less than {} "
      "slower\n",
      grouped(result.as_good_as_first), grouped(result.legal), grouped(result.considered),
      percent(std::max(result.calibration.resolution, 2 * timing_noise(first.total))));
  return text + time_text(first);
}

}  // namespace mapsim
