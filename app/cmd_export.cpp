// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include "app/cmd_export_cuda.hpp"
#include "app/files.hpp"
#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/timeloop_import.hpp"
#include "interop/timeloop_mapping.hpp"
#include "report/json.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

Answer exported(const ExportArguments& arguments, Answer answer) {
  if (arguments.output.json) {
    Provenance origin{"export", {input_file("arch", arguments.arch)}};
    for (const auto& [role, path] :
         {std::pair{"workload", arguments.workload}, std::pair{"mapping", arguments.mapping}}) {
      if (!path.empty()) {
        origin.inputs.push_back(input_file(role, path));
      }
    }
    answer.text = text_json(
        origin, {arguments.format, std::move(answer.text),
                 answer.remark.empty() ? std::vector<std::string>{} : std::vector{answer.remark}});
  }
  return answer;
}

}  // namespace

Answer run(const ExportArguments& arguments) {
  if (arguments.format == "cuda") {
    return exported(arguments, export_cuda(arguments));
  }
  if (arguments.mapping.empty()) {
    throw UsageError("export timeloop: MAPPING is required");
  }
  const Arch arch = load_arch(arguments.arch);
  const Workload workload = load_form(arguments.mapping, load_workload(arguments.workload));
  const Mapping mapping = load_mapping(arguments.mapping, arch, workload);
  try {
    std::string text = write_timeloop_mapping(to_timeloop_machine(arch), workload,
                                              to_timeloop_blocks(arch, workload, mapping));
    return exported(arguments, {kDone, std::move(text)});
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

}  // namespace mapsim
