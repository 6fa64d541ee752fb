// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "report/json.hpp"
#include "report/names.hpp"
#include "report/show.hpp"
#include "report/stepper.hpp"
#include "workloads/load.hpp"

namespace mapsim {

Answer run(const ShowArguments& arguments) {
  if (is_chain(arguments.workload)) {
    return run_on_chain(arguments);
  }
  if (!arguments.output.json) {
    refuse_terminal(arguments.output.file,
                    arguments.html ? "the page is HTML" : "the picture is SVG");
  }
  const char* const format = arguments.html ? "html" : "svg";
  const Arch arch = load_arch(arguments.arch);
  if (arguments.workload.empty()) {
    const std::string picture = show_arch(arch);
    return {kDone, arguments.output.json ? text_json({"show", {input_file("arch", arguments.arch)}},
                                                     {format, picture})
                                         : picture};
  }
  const Problem problem{arch, load_form(arguments.mapping, load_workload(arguments.workload))};
  const Mapping mapping = load_mapping(arguments.mapping, problem.arch(), problem.workload());
  const Evaluation evaluation = evaluate(problem, mapping);
  Provenance origin{"show", input_files(arguments.arch, problem, arguments.workload)};
  origin.inputs.push_back(input_file("mapping", arguments.mapping));
  if (const auto* infeasible = std::get_if<Infeasible>(&evaluation)) {  // no picture
    const std::string why = "does not fit: " + infeasible_text(arch, *infeasible);
    return {kNegative, arguments.output.json ? text_json(origin, {format, "", {why}}) : "", why};
  }
  const Cost& cost = std::get<Cost>(evaluation);
  const std::string picture = arguments.html ? page_html(stepper_page(problem, mapping, cost))
                                             : show_mapping(problem, mapping, cost);
  return {kDone, arguments.output.json ? text_json(origin, {format, picture}) : picture};
}

}  // namespace mapsim
