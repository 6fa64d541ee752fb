// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/watch.hpp"
#include "check/design_proof.hpp"
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
  Watch watch{{"checking", "stop"}};
  check::DesignCheckOptions options;
  options.threads = arguments.threads;
  options.max_steps = arguments.max_steps;
  options.sample = arguments.sample;
  options.stop.flag = &watch.stop();
  const check::DesignVerdict verdict = check::check_design(certificate, options);
  const ExitCode code =
      watch.stop() ? kInterrupted : (verdict.problems.empty() ? kDone : kNegative);
  if (arguments.output.json) {
    const Provenance origin{"check", {input_file("certificate", arguments.certificate)}};
    return {code, design_check_json(origin, certificate, verdict)};
  }
  return {code, design_check_text(certificate, verdict)};
}

}  // namespace mapsim
