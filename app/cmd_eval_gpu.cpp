// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "arch/gpu_load.hpp"
#include "core/reader.hpp"
#include "mapper/gpu/search.hpp"
#include "report/gpu.hpp"
#include "report/json.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kLargest = 1 << 20;  // of a tile and of counts, far beyond any chip

// What was said of a kernel, by a file and then by options; the rest is for completed().
struct KernelWish {
  std::optional<GpuPath> path;
  std::vector<std::int64_t> block, warp, fragment;
  std::optional<std::int64_t> stages, split_k, raster, padding, cluster, registers, spilled;
};

std::vector<std::int64_t> numbers(Reader& reader, const Node* list, std::size_t count) {
  std::vector<std::int64_t> result;
  if (list == nullptr) {
    return result;
  }
  for (const Node* item : reader.items(*list, "a list of extents")) {
    result.push_back(reader.integer(item, 1, kLargest).value_or(1));
  }
  if (result.size() != count) {
    reader.error(*list, fmt::format("{} extents; {} are wanted", result.size(), count));
    result.resize(count, 1);
  }
  return result;
}

const Node* child(const Node& map, std::string_view key) {
  for (const Entry& entry : map.entries) {
    if (entry.key.text == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

// `kernel:` of a file; of a search's JSON that of the first.
KernelWish read_kernel(const std::string& path) {
  const Document document = read_yaml(path);
  Reader reader{document};
  KernelWish wish;
  const Node* list = child(document.root, "kernels");
  const Node* holder = list != nullptr && !list->items.empty() ? &list->items[0] : &document.root;
  const Node* kernel = child(*holder, "kernel");
  if (kernel == nullptr) {
    reader.error(*holder, "no kernel: a map `kernel:` with block, warp, stages, ... is wanted");
    reader.finish();
    return wish;
  }
  const Fields fields =
      reader.fields(*kernel, {"path", "block", "warp", "fragment", "stages", "split_k", "raster",
                              "padding", "cluster", "registers", "spilled", "threads"});
  if (const auto word =
          reader.choice(fields.find("path"), {"wmma", "mma", "wgmma", "simt"}, "a path")) {
    wish.path = static_cast<GpuPath>(*word);
  }
  wish.block = numbers(reader, fields.require("block"), 3);
  wish.warp = numbers(reader, fields.find("warp"), 2);
  wish.fragment = numbers(reader, fields.find("fragment"), 3);
  const auto whole = [&](const char* key, std::int64_t least) {
    return reader.integer(fields.find(key), least, kLargest);
  };
  wish.stages = whole("stages", 1);
  wish.split_k = whole("split_k", 1);
  wish.raster = whole("raster", 0);
  wish.padding = whole("padding", 0);
  wish.cluster = whole("cluster", 1);
  wish.registers = whole("registers", 1);
  wish.spilled = whole("spilled", 0);
  reader.finish();
  return wish;
}

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
    if (problem != std::errc{} || value < 1 || value > kLargest || (next != end && *next != 'x')) {
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
    wish.path = named<GpuPath>(a.path, 4);
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

KernelChoice kernel_of(const Gpu& gpu, const GemmForm& form, const KernelWish& wish) {
  const GemmProblem& problem = form.problem;
  const auto fastest = [&] {
    return !form.tensor_cores ? GpuPath::kSimt
           : gpu.rate(problem.precision, GpuPath::kWgmma) > 0 && is_for_wgmma(problem)
               ? GpuPath::kWgmma
               : GpuPath::kMma;
  };
  KernelChoice kernel;
  kernel.path = wish.path ? *wish.path : fastest();
  kernel.block = {wish.block[0], wish.block[1], wish.block[2]};
  const bool wide = kernel.path == GpuPath::kWgmma;  // 64 rows of a warpgroup
  kernel.warp = {std::min<std::int64_t>(64, kernel.block.m),
                 wide ? kernel.block.n : std::min<std::int64_t>(64, kernel.block.n), 1};
  if (!wish.warp.empty()) {
    kernel.warp = {wish.warp[0], wish.warp[1], 1};
  }
  kernel.stages = wish.stages.value_or(gpu.compute_capability >= 80 ? 3 : 2);
  kernel.split_k = wish.split_k.value_or(1);
  kernel.raster = wish.raster.value_or(8);
  kernel.cluster = wish.cluster.value_or(1);
  kernel = completed(problem, kernel);
  if (!wish.fragment.empty()) {
    kernel.fragment = {wish.fragment[0], wish.fragment[1], wish.fragment[2]};
  }
  kernel.padding = wish.padding.value_or(kernel.padding);
  kernel.registers = wish.registers;
  kernel.spilled_bytes = wish.spilled;
  return kernel;
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
  for (const auto& [given, option] : {std::pair{arguments.why, "--why"},
                                      {arguments.explain_energy, "--explain-energy"},
                                      {arguments.objective.chosen, "--objective"}}) {
    if (given) {
      throw UsageError(std::string{option} + ": not for a GPU; the best kernels stand beside it");
    }
  }
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
    wish = read_kernel(arguments.mapping);
  }
  take_options(given, wish);
  GpuSearchResult& result = comparison.report.result;
  result.forms =
      forms_of(gpu, comparison.report.workload, request_of(given.precision, given.layout));
  std::string why;
  std::optional<RankedKernel> best;
  for (std::size_t i = 0; i < result.forms.size(); ++i) {
    const GemmForm& form = result.forms[i];
    const KernelChoice kernel = kernel_of(gpu, form, wish);
    if ((kernel.path == GpuPath::kSimt) == form.tensor_cores) {
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
    return {kDone, kernel_json(origin, comparison)};
  }
  return {kDone, kernel_text(comparison)};
}

}  // namespace mapsim
