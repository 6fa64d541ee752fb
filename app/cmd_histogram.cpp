// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/space.hpp"
#include "app/startable_threads.hpp"
#include "app/watch.hpp"
#include "arch/load.hpp"
#include "report/histogram.hpp"
#include "report/json.hpp"
#include "report/sparse.hpp"
#include "workloads/load.hpp"

namespace mapsim {

Answer run(const HistogramArguments& arguments) {
  const Problem problem{load_arch(arguments.arch), load_workload(arguments.workload)};
  Provenance origin{"histogram", input_files(arguments.arch, problem, arguments.workload)};
  const Constraints constraints =
      read_space(problem, arguments.constraints, false, false, &origin.warnings);
  const std::vector<std::string> notes = zero_notes(problem);
  origin.warnings.insert(origin.warnings.end(), notes.begin(), notes.end());
  if (constraints.factors.imperfect) {
    throw UsageError("histogram: walks perfect factors only; leave out factors: imperfect");
  }
  if (!arguments.constraints.empty()) {
    origin.inputs.push_back(input_file("constraints", arguments.constraints));
  }
  OutputFile picture{arguments.svg};
  HistogramOptions options = arguments.options;
  options.threads = threads_to_use(options.threads);
  const Watch watch;
  options.stop = &watch.stop();
  const Mapspace space{problem, constraints};
  const Histogram histogram = make_histogram(space, options);
  if (!arguments.svg.empty()) {
    picture.write(histogram_svg(space, options, histogram));
  }
  const ExitCode code =
      histogram.interrupted ? kInterrupted : (histogram.points.empty() ? kNegative : kDone);
  Answer answer{code, arguments.output.json ? histogram_json(origin, space, options, histogram)
                                            : warning_lines(origin.warnings) +
                                                  histogram_text(space, options, histogram)};
  remark_warnings(origin.warnings, answer);
  return answer;
}

}  // namespace mapsim
