// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "report/json_calibration.hpp"
#include "report/table.hpp"
#include "report/widths.hpp"

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

std::string head(const KernelReport& report, const GemmProblem& problem) {
  const GpuRate& rate = report.gpu.rate(problem.precision);
  std::string text = fmt::format("{} on {}: GEMM of {}\n", report.workload.name, report.gpu.name,
                                 shape_text(problem));
  text += fmt::format("  {}\n", widths_text(widths_of(problem)));
  const double wmma = report.gpu.rate(problem.precision, GpuPath::kWmma);
  const double simt = report.gpu.rate(problem.precision, GpuPath::kSimt);
  text += fmt::format("  ceilings: tensor cores {:.0f}{}{} Tops/s\n",
                      peak_tflops(report.gpu, rate.chip),
                      wmma > 0 ? fmt::format(", WMMA {:.0f}", peak_tflops(report.gpu, wmma)) : "",
                      simt > 0 ? fmt::format(", FMA {:.0f}", peak_tflops(report.gpu, simt)) : "");
  const auto& ranked = report.result.ranked;
  return text +
         fmt::format("  {}\n", trust_text(report.result.calibration, problem.precision,
                                          ranked.empty() ? Seconds{0} : ranked.front().total));
}

// WMMA alone has a choice of fragments and of padding.
bool has_wmma(const GpuSearchResult& result) {
  return std::any_of(result.ranked.begin(), result.ranked.end(),
                     [](const RankedKernel& r) { return r.kernel.path == GpuPath::kWmma; });
}

// `marks`: what a footnote says of it.
Row kernel_row(const GemmProblem& problem, const RankedKernel& ranked, std::size_t rank,
               const char* marks, bool wmma) {
  const KernelChoice& kernel = ranked.kernel;
  const std::string path = before_path(problem) + std::string{to_string(kernel.path)};
  const GpuEstimate& estimate = ranked.estimate;
  const GpuWork& work = ranked.work;
  Row row{
      fmt::format("{}{}{}{}", rank, ranked.as_good_as_first ? "=" : "", ranked.is_fixed ? "*" : "",
                  marks),
      scaled(ranked.total.count(), "s"),
      to_string(estimate.bound),
      percent(estimate.mma_share),
      kernel.cluster > 1 ? fmt::format("{} x{}", path, kernel.cluster) : path,
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

// Those that may take time, in the order of the table of kernels.
std::array<std::pair<const char*, Seconds>, 11> parts_of(const RankedKernel& kernel) {
  const GpuTime& time = kernel.estimate.time;
  return {{{"mma", time.mma},
           {"shared memory", time.shared},
           {"issue", time.issue},
           {"L2", time.l2},
           {"DRAM", time.dram},
           {"stalls", time.stall},
           {"first and last tiles", time.fill},
           {"sum of the slices", time.reduction},
           {"launch", time.launch},
           {"power limit", time.power},
           {"other passes", kernel.passes}}};
}

std::string time_text(const RankedKernel& first) {
  const GpuTime& time = first.estimate.time;
  Words parts;
  for (const auto& [name, part] : parts_of(first)) {
    if (part.count() > 0.005 * first.total.count()) {
      parts.push_back(fmt::format("{} {}", name, scaled(part.count(), "s")));
    }
  }
  return fmt::format(
      "\ntime of the first kernel, whose parts overlap: {}; the tail of these is {}\n",
      fmt::join(parts, ", "), scaled(time.tail.count(), "s"));
}

// Where one launch draws more than the board may: the limit holds for an average, so it slows many
// launches in a row. The calibration without `settle` prices those.
std::string power_text(const KernelReport& report, const RankedKernel& kernel, const char* name) {
  const Gpu& gpu = report.gpu;
  const auto limit = std::llround(gpu.power.count() * 1e-3);
  const GpuEstimate& once = kernel.estimate;
  const auto watts = std::llround(once.energy.total.count() * 1e-12 / once.time.total.count());
  if (limit <= 0 || watts <= limit) {
    return "";
  }
  return fmt::format(
      "power of {}: {} W in a single launch, above the board's limit of {} W. The board holds the "
      "limit on average and lowers its clock in a long row of such launches\n",
      name, grouped(watts), grouped(limit));
}

// The form's notes and passes.
std::string form_text(const GemmForm& form) {
  std::string text;
  for (const std::string& note : form.notes) {
    text += "  " + note + '\n';
  }
  for (const ExtraPass& pass : form.passes) {
    text += fmt::format("  another pass: {}\n", pass.what);
  }
  return text;
}

const char* limit_text(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::kRegisters:
      return "registers";
    case OccupancyLimit::kShared:
      return "shared memory";
    case OccupancyLimit::kWarps:
      return "warps";
    case OccupancyLimit::kBlocks:
      return "blocks";
  }
  return "";
}

// What it takes and moves, as a column of names and one of figures.
std::vector<std::pair<const char*, std::string>> figures_of(const RankedKernel& kernel) {
  const GpuWork& work = kernel.work;
  const GpuResources& need = work.resources;
  std::vector<std::pair<const char*, std::string>> figures{
      {"time", scaled(kernel.total.count(), "s")},
      {"bound", to_string(kernel.estimate.bound)},
      {"of its path's peak", percent(kernel.estimate.mma_share)},
      {"threads", fmt::format("{}", kernel.kernel.threads())},
      {"registers", fmt::format("{}{}", need.registers_measured ? "" : "~", need.registers)},
      {"shared memory of a block", bytes_text(Bits{8 * need.shared.count()})},
      {"blocks per SM", fmt::format("{} ({})", need.blocks_per_sm, limit_text(need.limit))},
      {"blocks", fmt::format("{} x {}, {} in all", work.waves.rows, work.waves.columns,
                             grouped(work.waves.blocks))},
      {"waves", fmt::format("{:.2f}", static_cast<double>(work.waves.blocks) /
                                          static_cast<double>(work.waves.slots))},
      {"padding", percent(1 - work.macs / work.padded_macs)},
      {"shared memory wavefronts", fmt::format("{:.6g}", work.wavefronts)},
      {"instructions of warps", fmt::format("{:.4g}", work.instructions)},
      {"L2 bytes", bytes_text(Bits{8 * static_cast<std::int64_t>(kernel.estimate.l2_bytes)})},
      {"DRAM bytes", bytes_text(Bits{8 * static_cast<std::int64_t>(kernel.estimate.dram_bytes)})},
      {"energy", energy_text(kernel.estimate.energy.total)}};
  for (const auto& [name, part] : parts_of(kernel)) {
    figures.emplace_back(name, scaled(part.count(), "s"));
  }
  figures.emplace_back("the tail of these", scaled(kernel.estimate.time.tail.count(), "s"));
  return figures;
}

}  // namespace

std::string trust_text(const GpuCalibration& calibration, GpuPrecision precision, Seconds time) {
  if (calibration.fitted_from.empty()) {
    return fmt::format(
        "uncalibrated: the error for this chip and path is unknown; on the recorded sets 9 of 10 "
        "times were within a factor of {:.1f}",
        std::exp(calibration.error));
  }
  const bool is_known = calibration.longest.count() <= 0 ||
                        (time >= calibration.shortest && time <= calibration.longest);
  const bool is_shared =
      !calibration.fitted_on.empty() || calibration.precision.value_or(precision) != precision;
  return fmt::format(
      "{}: 9 of 10 {}measured times are expected within a factor of {:.2f}{}{}",
      calibration_source(calibration, precision), is_known ? "" : "of its ",
      std::exp(calibration.error),
      is_shared ? ", widened because the fit is of another chip or precision" : "",
      is_known ? ""
               : fmt::format("; the first is outside of them ({} to {}), so its error is unknown",
                             scaled(calibration.shortest.count(), "s"),
                             scaled(calibration.longest.count(), "s")));
}

namespace {

// Where no kernel is legal: what each form's first one of each path lacks.
std::string why_none(const KernelReport& report) {
  std::string text;
  for (const GemmForm& form : report.result.forms) {
    for (const GpuPath path : {GpuPath::kWmma, GpuPath::kMma, GpuPath::kWgmma, GpuPath::kSimt}) {
      if ((path == GpuPath::kSimt) == form.tensor_cores) {
        continue;
      }
      const std::vector<KernelChoice> set = kernel_set(report.gpu, form.problem, path);
      const std::optional<std::string> reason =
          set.empty() ? std::nullopt : illegal(report.gpu, form.problem, set.front());
      if (reason && text.find(*reason) == std::string::npos) {
        text += (text.empty() ? "" : "; ") + *reason;
      }
    }
  }
  return text.empty() ? "no such path for this precision" : text;
}

}  // namespace

std::string kernel_text(const KernelComparison& comparison) {
  const KernelReport& report = comparison.report;
  const RankedKernel& given = report.result.ranked.front();
  const GemmForm& form = report.result.forms[given.form];
  std::string text = head(report, form.problem) + form_text(form);
  std::vector<std::pair<std::string, const RankedKernel*>> kernels{{"this", &given}};
  if (comparison.best_of_path) {
    kernels.emplace_back(fmt::format("best {}", to_string(given.kernel.path)),
                         &*comparison.best_of_path);
  }
  if (comparison.best && comparison.best->kernel.path != given.kernel.path) {
    kernels.emplace_back("best", &*comparison.best);
  }
  std::vector<Row> rows{{""}};
  for (const auto& [name, kernel] : kernels) {
    text += fmt::format("{}{}: {}{}\n", kernel == &given ? "\n" : "", name,
                        before_path(report.result.forms[kernel->form].problem),
                        to_string(kernel->kernel));
    rows.front().push_back(name);
    const auto figures = figures_of(*kernel);
    rows.resize(figures.size() + 1);
    for (std::size_t i = 0; i < figures.size(); ++i) {
      if (rows[i + 1].empty()) {
        rows[i + 1].emplace_back(figures[i].first);
      }
      rows[i + 1].push_back(figures[i].second);
    }
  }
  text += '\n' + table(rows);
  const std::string power = power_text(report, given, "this kernel");
  return power.empty() ? text : text + '\n' + power;
}

namespace {

// Which kernels 'export cuda' does not write, and what it writes instead of the first.
std::string written_text(const KernelReport& report) {
  const auto& reasons = report.not_written;
  const auto reason = std::find_if(reasons.begin(), reasons.end(),
                                   [](const std::string& text) { return !text.empty(); });
  if (reason == reasons.end()) {
    return "";
  }
  std::string text = fmt::format("!: 'export cuda' does not write it: {}", *reason);
  if (const auto& best = report.best_written) {
    const Seconds first = report.result.ranked.front().total;
    text += fmt::format("; the best that it writes is {}, {} ({:+.1f} %)", to_string(best->kernel),
                        scaled(best->total.count(), "s"),
                        100 * (best->total.count() / first.count() - 1));
  }
  return text + '\n';
}

}  // namespace

std::string kernels_text(const KernelReport& report) {
  const GpuSearchResult& result = report.result;
  if (result.ranked.empty()) {
    return fmt::format("{} on {}: none of {} kernels is legal: {}\n", report.workload.name,
                       report.gpu.name, grouped(result.considered), why_none(report));
  }
  const RankedKernel& first = result.ranked.front();
  const GemmForm& form = result.forms[first.form];
  std::string text = head(report, form.problem);
  text += form_text(form);
  std::vector<Row> rows{{"rank", "time", "bound", "of peak", "path", "block", "warp", "stages",
                         "split", "raster", "per SM", "waves", "registers", "shared", "DRAM",
                         "energy"}};
  const bool wmma = has_wmma(result);
  if (wmma) {
    rows.front().insert(rows.front().begin() + kAfterWarp, {"fragment", "pad"});
  }
  for (std::size_t i = 0; i < result.ranked.size(); ++i) {
    const bool is_written = i >= report.not_written.size() || report.not_written[i].empty();
    const RankedKernel& ranked = result.ranked[i];
    rows.push_back(
        kernel_row(result.forms[ranked.form].problem, ranked, i + 1, is_written ? "" : "!", wmma));
  }
  text += '\n' + table(rows);
  text += fmt::format(
      "\n=: less than {} slower than the first, too close to tell which is faster; {} of {} legal "
      "kernels are ({} considered)\n",
      percent(std::max(result.calibration.resolution, 2 * timing_noise(first.total))),
      grouped(result.as_good_as_first), grouped(result.legal), grouped(result.considered));
  if (first.is_fixed) {
    text +=
        "*: the kernel that was best on average where the model was measured; it chose better than "
        "the model on problems that were held out, so that the model is good for times only\n";
  }
  return text + written_text(report) + time_text(first) +
         power_text(report, first, "the first kernel");
}

}  // namespace mapsim
