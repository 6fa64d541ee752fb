// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/watch.hpp"
#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "mapper/constraints.hpp"
#include "mapper/mapper.hpp"
#include "report/certificate.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "report/why.hpp"
#include "workloads/load.hpp"

namespace mapsim {

Answer run(const SearchArguments& arguments) {
  const Problem problem{load_arch(arguments.arch), load_workload(arguments.workload)};
  Provenance origin{"search", input_files(arguments.arch, problem.arch(), arguments.workload)};
  Constraints constraints;
  if (!arguments.constraints.empty()) {
    constraints = load_constraints(arguments.constraints, problem);
    origin.inputs.push_back(input_file("constraints", arguments.constraints));
  }
  constraints.even = constraints.even || arguments.even;
  OutputFile mapping_file{arguments.mapping_file};
  OutputFile certificate{arguments.certificate_file};
  if (!arguments.certificate_file.empty() && arguments.strategy != "exact") {
    throw UsageError("only the strategy exact proves anything; leave out --certificate");
  }
  if (!arguments.certificate_file.empty() && !constraints.loops.empty()) {
    throw UsageError("certificates do not know rules for loops yet; leave out --certificate");
  }

  SearchOptions options;
  options.objective = complete(arguments.objective, problem.arch().clock);
  options.threads = arguments.threads;
  options.evaluations = arguments.evaluations;
  options.seed = static_cast<std::uint64_t>(arguments.seed);
  const Watch watch;
  options.stop = &watch.stop();
  const Mapspace space{problem, constraints};
  const SearchResult result = (*find_mapper(arguments.strategy))(space, options);

  if (result.best) {
    mapping_file.write(print_mapping(problem.arch(), problem.workload(), *result.best));
  }
  certificate.write(arguments.certificate_file.empty()
                        ? std::string{}
                        : certificate_file(origin, space, options.objective, result));
  Answer answer;
  std::optional<std::vector<Relief>> reliefs;
  if (arguments.why && result.cost && !result.interrupted) {
    reliefs = what_would_help(space, options, *result.cost);
  }
  if (arguments.output.json) {
    answer.text = search_json(origin, space, arguments.strategy, options, result, reliefs);
  } else {
    answer.text = search_text(space, options.objective, result);
    answer.text += reliefs ? '\n' + relief_text(options.objective, *reliefs) : "";
  }
  answer.code = result.interrupted ? kInterrupted : (result.best ? kDone : kNegative);
  return answer;
}

}  // namespace mapsim
