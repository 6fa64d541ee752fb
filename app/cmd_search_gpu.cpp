// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "app/cmd_export_cuda.hpp"
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "arch/gpu_load.hpp"
#include "interop/gpu_export.hpp"
#include "mapper/gpu/plain_kernels.hpp"
#include "mapper/gpu/search.hpp"
#include "mapsim/written_kernels.hpp"
#include "report/gpu.hpp"
#include "report/json.hpp"
#include "validate/workload_problem.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

// CUTLASS does not have all kernels: those it has, from further down, too.
Answer exported(const std::string& format, const KernelReport& report, std::size_t top) {
  const GemmProblem& problem = report.result.forms[report.result.ranked.front().form].problem;
  const std::vector<KernelChoice> kernels = plain_kernels(report.result);
  if (kernels.empty()) {
    return {kNegative, "",
            fmt::format("{}: --export triton and cutlass write kernels of plain GEMMs; --export "
                        "json has all",
                        why_not_plain(problem))};
  }
  if (format == "triton") {
    std::string text = triton_configs(report.gpu, problem, kernels);
    const bool any = text.find("triton.Config(") != std::string::npos;
    return {any ? kDone : kNegative, std::move(text),
            any ? "" : "tl.dot takes the tensor cores: kernels without them are no Triton's"};
  }
  CutlassList list = cutlass_test_list(report.gpu, problem, kernels, top);
  return {list.written > 0 ? kDone : kNegative, std::move(list.text),
          list.left_out == 0
              ? ""
              : std::to_string(list.left_out) + " kernels left out that CUTLASS does not have, " +
                    std::to_string(list.written) + " written"};
}

// Which of the ranked kernels 'export cuda' writes.
void add_written(const KernelListArguments& arguments, KernelReport& report) {
  const GpuRequest request = request_of(arguments);
  const auto problem = kernel_problem(report.gpu, report.workload, request);
  for (const RankedKernel& ranked : report.result.ranked) {
    report.not_written.push_back(
        why_not_written(report.gpu, problem, report.result.forms[ranked.form], ranked.kernel)
            .value_or(""));
  }
  if (report.not_written.empty() || report.not_written.front().empty()) {
    return;
  }
  const auto written = written_kernels({report.gpu, report.workload, request, path_of(arguments)});
  if (const auto* kernels = std::get_if<WrittenKernels>(&written)) {
    report.best_written =
        rank_kernel(report.gpu, report.result.forms, kernels->form, kernels->best.front().kernel);
  }
}

}  // namespace

Answer run_on_gpu(const SearchArguments& arguments, const Document& machine) {
  refuse({{arguments.why, "--why"}},
         "not for a GPU; the column 'bound' and the parts of the first kernel's time show what "
         "limits it, and 'mapsim eval' shows those of any other kernel");
  refuse_mapspace_options({{!arguments.constraints.empty(), "--constraints"},
                           {!arguments.certificate_file.empty(), "--certificate"},
                           {!arguments.trace.empty(), "--trace"},
                           {!arguments.mapping_file.empty(), "--save-mapping"},
                           {!arguments.curve.empty(), "--curve"},
                           {arguments.pareto, "--pareto"},
                           {arguments.batches, "--batches"},
                           {arguments.even, "--even"},
                           {arguments.imperfect, "--imperfect"},
                           {arguments.print_constraints, "--print-constraints"},
                           {!arguments.svg.empty(), "--svg"},
                           {arguments.explain_energy, "--explain-energy"}},
                          arguments.objective, arguments.strategy);
  const KernelListArguments& kernels = arguments.kernels;
  KernelReport report{read_gpu(machine), load_workload(arguments.workload), {}};
  refuse_layout(kernels.layout, report.workload);
  if (arguments.output.json && !kernels.format.empty() && kernels.format != "json") {
    throw UsageError(fmt::format("--json: --export {} prints another format", kernels.format));
  }
  if (kernels.format == "cuda") {
    return export_harness(report.gpu, report.workload, kernels);
  }
  const std::vector<GemmForm> forms = forms_of(report.gpu, report.workload, request_of(kernels));
  GpuSearchOptions options;
  options.path = path_of(kernels);
  const auto top = static_cast<std::size_t>(kernels.top.value_or(10));
  options.top = kernels.format == "cutlass" ? std::max<std::size_t>(top, 100'000) : top;
  report.result = search_kernels(report.gpu, forms, options);
  const Provenance origin{
      "search", {input_file("arch", arguments.arch), input_file("workload", arguments.workload)}};
  Answer answer;
  answer.code = report.result.ranked.empty() ? kNegative : kDone;
  if (kernels.format.empty() || kernels.format == "json") {
    add_written(kernels, report);
  }
  if (kernels.format == "json" || (kernels.format.empty() && arguments.output.json)) {
    answer.text = kernels_json(origin, report);
  } else if (kernels.format.empty() || report.result.ranked.empty()) {
    answer.text = kernels_text(report);
  } else {
    answer = exported(kernels.format, report, top);
  }
  return answer;
}

}  // namespace mapsim
