// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "costmodel/roofline.hpp"
#include "report/gpu.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

Answer roofline_on_gpu(const RooflineArguments& arguments, const Document& machine) {
  const Gpu gpu = read_gpu(machine);
  const Workload workload = load_workload(arguments.workload);
  KernelListArguments kernels;
  kernels.precision = arguments.precision;
  const GemmProblem problem = forms_of(gpu, workload, request_of(kernels)).back().problem;
  if (arguments.output.json) {
    const Provenance origin{
        "roofline",
        {input_file("arch", arguments.arch), input_file("workload", arguments.workload)}};
    return {kDone, gpu_roofline_json(origin, gpu, workload, problem)};
  }
  return {kDone, gpu_roofline_text(gpu, workload, problem)};
}

}  // namespace

Answer run(const RooflineArguments& arguments) {
  const Document machine = read_yaml(arguments.arch);
  if (describes_gpu(machine)) {
    return roofline_on_gpu(arguments, machine);
  }
  if (!arguments.precision.empty()) {
    throw UsageError("--precision: only for a GPU, and ARCH is none");
  }
  const Arch arch = load_arch(arguments.arch);
  const Workload workload = load_workload(arguments.workload);
  const Roofline bounds = roofline(arch, workload);
  if (arguments.output.json) {
    Provenance origin{"roofline", input_files(arguments.arch, arch, arguments.workload)};
    add_masks(workload, "", origin.inputs);
    return {kDone, roofline_json(origin, arch, workload, bounds)};
  }
  return {kDone, roofline_text(arch, workload, bounds)};
}

}  // namespace mapsim
