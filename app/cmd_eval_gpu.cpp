// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "app/one_kernel.hpp"
#include "arch/gpu_load.hpp"
#include "mapper/gpu/search.hpp"
#include "report/gpu.hpp"
#include "report/json.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

// "128x128x32"
void take_tile(const std::string& text, std::size_t count, const char* option,
               std::vector<std::int64_t>& tile) {
  if (text.empty()) {
    return;
  }
  tile.clear();
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at <= end) {
    std::int64_t value = 0;
    const auto [next, problem] = std::from_chars(at, end, value);
    if (problem != std::errc{} || value < 1 || value > kLargestWish ||
        (next != end && *next != 'x')) {
      tile.clear();
      break;
    }
    tile.push_back(value);
    at = next + 1;
  }
  if (tile.size() != count) {
    throw UsageError(fmt::format("{}: '{}' is not {}", option, text,
                                 count == 3 ? "MxNxK, like 128x128x32" : "MxN, like 64x64"));
  }
}

void take_options(const OneKernelArguments& a, KernelWish& wish) {
  take_tile(a.block, 3, "--block", wish.block);
  take_tile(a.warp, 2, "--warp", wish.warp);
  take_tile(a.fragment, 3, "--fragment", wish.fragment);
  if (!a.path.empty()) {
    wish.path = path_named(a.path);
  }
  for (const auto& [given, field] : {std::pair{&a.stages, &wish.stages},
                                     {&a.split_k, &wish.split_k},
                                     {&a.raster, &wish.raster},
                                     {&a.padding, &wish.padding},
                                     {&a.cluster, &wish.cluster},
                                     {&a.registers, &wish.registers}}) {
    if (*given) {
      *field = *given;
    }
  }
  if (wish.block.empty()) {
    throw UsageError("which kernel? a file of one, or --block MxNxK");
  }
}

// The fastest that this chip has for this form.
GpuPath usual_path(const Gpu& gpu, const GemmForm& form) {
  const GemmProblem& problem = form.problem;
  return !form.tensor_cores ? GpuPath::kSimt
         : gpu.rate(problem.precision, GpuPath::kWgmma) > 0 && is_for_wgmma(problem)
             ? GpuPath::kWgmma
             : GpuPath::kMma;
}

// Whether sparse tensor cores have a kernel of these tiles; all others have.
bool is_in_set(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  const auto tiles = [](const KernelChoice& each) {
    return std::tuple{each.block, each.warp, each.stages, each.split_k};
  };
  const std::vector<KernelChoice> set =
      problem.pruned_b ? kernel_set(gpu, problem, kernel.path) : std::vector{kernel};
  return std::ranges::any_of(
      set, [&](const KernelChoice& each) { return tiles(each) == tiles(kernel); });
}

std::optional<RankedKernel> best_of(const Gpu& gpu, const std::vector<GemmForm>& forms,
                                    std::optional<GpuPath> path) {
  GpuSearchOptions options;
  options.path = path;
  options.top = 1;
  GpuSearchResult result = search_kernels(gpu, forms, options);
  return result.ranked.empty() ? std::nullopt : std::optional{result.ranked.front()};
}

void refuse_mapping_options(const EvalArguments& arguments) {
  refuse({{arguments.why, "--why"}},
         "not for a GPU; 'bound' and the parts of the time below it show what limits a kernel");
  refuse({{arguments.explain_energy, "--explain-energy"},
          {arguments.objective.chosen, "--objective"},
          {!arguments.csv_file.empty(), "--csv"}},
         "not for a GPU; the answer also has the best kernel");
}

}  // namespace

Answer run_on_gpu(const EvalArguments& arguments, const Document& machine) {
  refuse_mapping_options(arguments);
  const OneKernelArguments& given = arguments.kernel;
  KernelComparison comparison{{read_gpu(machine), load_workload(arguments.workload), {}}, {}, {}};
  const Gpu& gpu = comparison.report.gpu;
  refuse_layout(given.layout, comparison.report.workload);
  KernelWish wish;
  if (!arguments.mapping.empty()) {
    wish = read_kernels(read_yaml(arguments.mapping)).front();
  }
  take_options(given, wish);
  GpuSearchResult& result = comparison.report.result;
  result.forms =
      forms_of(gpu, comparison.report.workload,
               request_of(given.precision, given.layout, wish, comparison.report.workload));
  std::string why;
  std::optional<RankedKernel> best;
  for (std::size_t i = 0; i < result.forms.size(); ++i) {
    const GemmForm& form = result.forms[i];
    const KernelChoice kernel = kernel_of(gpu, form.problem, wish, usual_path(gpu, form));
    if ((kernel.path == GpuPath::kSimt) == form.tensor_cores ||
        !is_in_set(gpu, form.problem, kernel)) {
      continue;
    }
    if (const auto reason = illegal(gpu, form.problem, kernel)) {
      why += fmt::format("{}: illegal: {}\n", to_string(kernel), *reason);
      continue;
    }
    RankedKernel ranked = rank_kernel(gpu, result.forms, i, kernel);
    if (!best || ranked.total < best->total) {
      best = std::move(ranked);
    }
  }
  if (!best) {
    return {kNegative,
            why.empty() ? fmt::format("{} has no such path for this precision\n", gpu.name) : why};
  }
  const GpuPath path = best->kernel.path;
  if (!why.empty()) {
    why += fmt::format("the {} kernel of these tiles is shown instead\n", to_string(path));
  }
  result.calibration = gpu.calibration(result.forms[best->form].problem.precision, path);
  result.ranked.push_back(*best);
  comparison.best_of_path = best_of(gpu, result.forms, path);
  comparison.best = best_of(gpu, result.forms, std::nullopt);
  if (arguments.output.json) {
    Provenance origin{
        "eval", {input_file("arch", arguments.arch), input_file("workload", arguments.workload)}};
    if (!arguments.mapping.empty()) {
      origin.inputs.push_back(input_file("mapping", arguments.mapping));
    }
    return {kDone, kernel_json(origin, comparison), why.substr(0, why.find('\n'))};
  }
  // Why another path is shown than the one that tensor cores would take.
  return {kDone, why + (why.empty() ? "" : "\n") + kernel_text(comparison)};
}

}  // namespace mapsim
