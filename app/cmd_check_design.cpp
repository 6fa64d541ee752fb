// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/places.hpp"
#include "app/startable_threads.hpp"
#include "app/watch.hpp"
#include "check/design_proof.hpp"
#include "design/certificate.hpp"
#include "report/design_check.hpp"

namespace mapsim {

Answer run_on_design(const CheckArguments& arguments) {
  if (!arguments.machine.empty() || !arguments.layer.empty() || !arguments.constraints.empty()) {
    throw UsageError(
        "--arch, --workload and --constraints are about the proof of one layer; the answer prints "
        "the space and the work of a proof of designs");
  }
  check::DesignCertificate certificate =
      check::parse_design_certificate(read_text(arguments.certificate), arguments.certificate);
  check::DesignVerdict verdict;
  if (!arguments.space.empty()) {
    verdict.problems = differences(
        certificate, load_design_space(arguments.space, arguments.work, shipped_configs()));
    for (const check::DesignGrid& space : certificate.spaces) {
      verdict.designs += check::volume(space.all());
    }
  }
  check::DesignCheckOptions options;
  options.threads = threads_to_use(arguments.threads);
  Watch watch{{"checking", "stop"}};
  options.max_steps = arguments.max_steps;
  options.sample = arguments.sample;
  options.stop.flag = &watch.stop();
  if (verdict.problems.empty()) {
    verdict = check::check_design(certificate, options);
  }
  if (watch.stop()) {
    return {kInterrupted, "", kNoVerdict};
  }
  const ExitCode code = verdict.problems.empty() ? kDone : kNegative;
  if (arguments.output.json) {
    const Provenance origin{"check", {input_file("certificate", arguments.certificate)}};
    return {code, design_check_json(origin, certificate, verdict)};
  }
  return {code, design_check_text(certificate, verdict)};
}

}  // namespace mapsim
