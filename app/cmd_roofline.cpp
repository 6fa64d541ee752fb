// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "arch/load.hpp"
#include "costmodel/roofline.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "workloads/load.hpp"

namespace mapsim {

Answer run(const RooflineArguments& arguments) {
  const Arch arch = load_arch(arguments.arch);
  const Workload workload = load_workload(arguments.workload);
  const Roofline bounds = roofline(arch, workload);
  if (arguments.output.json) {
    const Provenance origin{"roofline", input_files(arguments.arch, arch, arguments.workload)};
    return {kDone, roofline_json(origin, arch, workload, bounds)};
  }
  return {kDone, roofline_text(arch, workload, bounds)};
}

}  // namespace mapsim
