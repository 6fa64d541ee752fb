// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "report/names.hpp"
#include "report/show.hpp"
#include "report/stepper.hpp"
#include "workloads/load.hpp"

namespace mapsim {

Answer run(const ShowArguments& arguments) {
  if (is_chain(arguments.workload)) {
    return run_on_chain(arguments);
  }
  refuse_terminal(arguments.output.file,
                  arguments.html ? "the page is HTML" : "the picture is SVG");
  const Arch arch = load_arch(arguments.arch);
  if (arguments.workload.empty()) {
    return {kDone, show_arch(arch)};
  }
  const Problem problem{arch, load_form(arguments.mapping, load_workload(arguments.workload))};
  const Mapping mapping = load_mapping(arguments.mapping, problem.arch(), problem.workload());
  const Evaluation evaluation = evaluate(problem, mapping);
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {
    return {kNegative, "", "does not fit: " + infeasible_text(arch, *infeasible)};  // no picture
  }
  const Cost& cost = std::get<Cost>(evaluation);
  return {kDone, arguments.html ? page_html(stepper_page(problem, mapping, cost))
                                : show_mapping(problem, mapping, cost)};
}

}  // namespace mapsim
