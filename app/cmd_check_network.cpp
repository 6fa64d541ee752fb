// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/onnx_model.hpp"
#include "app/watch.hpp"
#include "arch/load.hpp"
#include "arch/print.hpp"
#include "check/network_proof.hpp"
#include "report/network_check.hpp"

namespace mapsim {

Answer run_on_network(const CheckArguments& arguments) {
  if (!arguments.constraints.empty()) {
    throw UsageError("--constraints: mapping trees of a network's chains have none");
  }
  const check::NetworkClaim claim =
      check::parse_network_claim(read_text(arguments.certificate), arguments.certificate);
  std::vector<std::string> wrong;
  if (!arguments.layer.empty()) {
    const Network network = network_of(arguments.layer, OnnxArguments{});
    if (!network.graph) {
      throw UsageError(fmt::format("{} is a list of layers, not a graph", arguments.layer));
    }
    wrong = check::strangers(claim, network);
  }
  if (!arguments.machine.empty() &&
      print_arch(load_arch(arguments.machine)) != print_arch(claim.parts.front().arch)) {
    wrong.push_back(fmt::format("it is not about the architecture of {}", arguments.machine));
  }
  Watch watch{{"checking", "stop"}};
  check::Stop stop;
  stop.flag = &watch.stop();
  check::NetworkVerdict verdict = check::check_network(claim, arguments.max_steps, stop);
  if (watch.stop()) {
    return {kInterrupted, "", kNoVerdict};
  }
  verdict.problems.insert(verdict.problems.end(), wrong.begin(), wrong.end());
  const ExitCode code = verdict.problems.empty() ? kDone : kNegative;
  const bool is_of_file = !arguments.layer.empty();
  if (arguments.output.json) {
    const Provenance origin{"check", {input_file("certificate", arguments.certificate)}};
    return {code, network_check_json(origin, claim, verdict, is_of_file)};
  }
  return {code, network_check_text(claim, verdict, is_of_file)};
}

}  // namespace mapsim
