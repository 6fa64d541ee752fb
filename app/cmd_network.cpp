// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "app/onnx_model.hpp"
#include "app/space.hpp"
#include "app/watch.hpp"
#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "campaign/network.hpp"
#include "campaign/warnings.hpp"

namespace mapsim {

namespace {

Provenance origin_of(const NetworkArguments& arguments, const Arch& arch, const Network& network) {
  Provenance origin{"network", input_files(arguments.arch, arch, arguments.network)};
  for (InputFile& input : origin.inputs) {
    input.role = input.role == "workload" ? "network" : input.role;
  }
  for (const NetworkLayer& layer : network.layers) {
    if (!layer.file.empty()) {
      origin.inputs.push_back(input_file("layer " + layer.name, layer.file));
    }
  }
  if (!arguments.constraints.empty()) {
    origin.inputs.push_back(input_file("constraints", arguments.constraints));
  }
  return origin;
}

}  // namespace

Answer run(const NetworkArguments& arguments) {
  const Document machine = read_yaml(arguments.arch);
  if (describes_gpu(machine)) {
    return run_on_gpu(arguments, machine);
  }
  refuse_kernel_options(arguments.kernels);
  const Arch arch = load_arch(arguments.arch);
  const Network network = network_of(arguments.network, arguments.onnx);

  Watch watch;
  NetworkOptions options;
  options.strategy = arguments.strategy;
  options.frames = frames_of(arch, arguments.batches);
  options.search.objective = complete(arguments.objective, arch.clock);
  options.search.threads = arguments.threads;
  options.search.evaluations = arguments.evaluations;
  options.search.seed = static_cast<std::uint64_t>(arguments.seed);
  options.search.budget = arguments.budget;
  options.search.edge_folds = true;
  options.search.stop = &watch.stop();
  LackingLayers lacking;
  options.constraints = [&](const Problem& problem) {
    std::vector<LackingRule> rules;
    Constraints constraints = arguments.constraints.empty()
                                  ? Constraints{}
                                  : load_constraints(arguments.constraints, problem, &rules);
    lacking.add(rules, problem.workload().name);
    constraints.even = constraints.even || arguments.even;
    return constraints;
  };
  options.progress = [&](std::size_t layer) {
    watch.say(fmt::format(", layer {} of {}: {}", layer + 1, network.layers.size(),
                          network.layers[layer].name));
  };
  const NetworkResult result = search_network(arch, network, options);

  Answer answer;
  Provenance origin = origin_of(arguments, arch, network);
  origin.warnings = lacking.warnings();
  answer.text = arguments.output.json
                    ? network_json(origin, arch, network, options, result)
                    : warning_lines(origin.warnings) + network_text(arch, network, options, result);
  remark_warnings(origin.warnings, answer);
  const bool missing = !network.unpriced.empty() ||
                       totals(arch, network, result, options.search.objective.mode).missing > 0;
  answer.code = result.interrupted ? kInterrupted : (missing ? kNegative : kDone);
  return answer;
}

}  // namespace mapsim
