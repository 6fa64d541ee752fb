// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "app/command.hpp"
#include "app/files.hpp"
#include "arch/gpu_load.hpp"
#include "interop/gpu_export.hpp"
#include "mapper/gpu/search.hpp"
#include "report/gpu.hpp"
#include "report/json.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

// The value whose to_string() is `word`.
template <class Enum>
std::optional<Enum> named(const std::string& word, int count) {
  for (int i = 0; i < count; ++i) {
    if (word == to_string(static_cast<Enum>(i))) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

// What is for mapspaces only. Threads, seeds and budgets are taken: kernels need none.
void refuse_mapspace_options(const SearchArguments& arguments) {
  for (const auto& [given, option] : {std::pair{!arguments.constraints.empty(), "--constraints"},
                                      {!arguments.certificate_file.empty(), "--certificate"},
                                      {!arguments.mapping_file.empty(), "--save-mapping"},
                                      {!arguments.curve.empty(), "--curve"},
                                      {arguments.pareto, "--pareto"},
                                      {arguments.even, "--even"},
                                      {arguments.imperfect, "--imperfect"},
                                      {arguments.why, "--why"},
                                      {arguments.print_constraints, "--print-constraints"},
                                      {arguments.strategy != "exact", "--strategy"}}) {
    if (given) {
      throw UsageError(std::string{option} + ": not for a GPU; all its kernels are ranked by time");
    }
  }
}

GpuRequest request_of(const KernelArguments& arguments) {
  GpuRequest request;
  request.precision = named<GpuPrecision>(arguments.precision, static_cast<int>(kGpuPrecisions));
  const std::string& layout = arguments.layout;
  if (layout == "nchw") {
    request.layout = ConvLayout::kNchw;
  } else if (layout.size() == 2) {
    request.a = layout[0] == 't' ? MatrixLayout::kRow : MatrixLayout::kColumn;
    request.b = layout[1] == 'n' ? MatrixLayout::kColumn : MatrixLayout::kRow;
  }
  return request;
}

std::string exported(const std::string& format, const KernelReport& report) {
  const std::size_t form = report.result.ranked.front().form;
  const GemmProblem& problem = report.result.forms[form].problem;
  std::vector<KernelChoice> kernels;
  for (const RankedKernel& ranked : report.result.ranked) {
    if (ranked.form == form) {
      kernels.push_back(ranked.kernel);
    }
  }
  return format == "triton" ? triton_configs(report.gpu, problem, kernels)
                            : cutlass_test_list(report.gpu, problem, kernels);
}

}  // namespace

Answer run_on_gpu(const SearchArguments& arguments, const Document& machine) {
  refuse_mapspace_options(arguments);
  const KernelArguments& kernels = arguments.kernels;
  KernelReport report{read_gpu(machine), load_workload(arguments.workload), {}};
  const auto forms = gemm_forms(report.gpu, report.workload, request_of(kernels));
  if (const auto* reason = std::get_if<std::string>(&forms)) {
    throw UsageError(*reason);
  }
  GpuSearchOptions options;
  options.path = named<GpuPath>(kernels.path, 4);
  options.top = static_cast<std::size_t>(kernels.top.value_or(10));
  report.result = search_kernels(report.gpu, std::get<0>(forms), options);
  const Provenance origin{
      "search", {input_file("arch", arguments.arch), input_file("workload", arguments.workload)}};
  Answer answer;
  answer.code = report.result.ranked.empty() ? kNegative : kDone;
  if (kernels.format == "json" || (kernels.format.empty() && arguments.output.json)) {
    answer.text = kernels_json(origin, report);
  } else if (kernels.format.empty() || report.result.ranked.empty()) {
    answer.text = kernels_text(report);
  } else {
    answer.text = exported(kernels.format, report);
  }
  return answer;
}

}  // namespace mapsim
