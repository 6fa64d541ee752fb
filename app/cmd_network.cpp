// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "app/onnx_model.hpp"
#include "app/space.hpp"
#include "app/startable_threads.hpp"
#include "app/watch.hpp"
#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "campaign/fused_network.hpp"
#include "campaign/network.hpp"
#include "campaign/network_certificate.hpp"
#include "campaign/warnings.hpp"
#include "check/certificate.hpp"
#include "check/network_proof.hpp"
#include "mapper/shared_budget.hpp"

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
    add_masks(layer.workload, layer.name + " ", origin.inputs);
  }
  if (!arguments.constraints.empty()) {
    origin.inputs.push_back(input_file("constraints", arguments.constraints));
  }
  return origin;
}

// Chains are searched with perfect factors and without rules, so far.
void refuse_beside_fusion(const NetworkArguments& a, const Objective& objective) {
  const std::vector<std::pair<bool, const char*>> refused{
      {!a.constraints.empty(), "--constraints"},
      {a.strategy != "exact", "--strategy"},
      {a.even, "--even"},
      {a.imperfect, "--imperfect"},
      {a.batches, "--batches"},
      {a.budget.gap > 0, "--gap"},
      {a.budget.labels != Budget{}.labels, "--budget-labels"}};
  for (const auto& [is_given, name] : refused) {
    if (is_given) {
      throw UsageError(fmt::format("{} is not for --fuse, so far", name));
    }
  }
  if (const std::string obstacle = fused_network_obstacle(objective); !obstacle.empty()) {
    throw UsageError("--fuse: " + obstacle);
  }
}

// Writes the proof. Returns what it does not show.
std::string write_network_proof(const NetworkArguments& arguments, const Arch& arch,
                                const Network& network, const SearchOptions& options,
                                const FusedNetwork& fused, OutputFile& file) {
  const std::string& path = arguments.certificate_file;
  if (path.empty()) {
    return "";
  }
  const std::string proof = network_certificate_file(origin_of(arguments, arch, network), arch,
                                                     network, arguments.fusion, options, fused);
  if (proof.empty()) {
    file.remove();
    return fmt::format(
        "--certificate: a chain or a layer has no mapping, or was not searched: no certificate in "
        "{}",
        path);
  }
  file.write(proof);
  const check::NetworkClaim claim = check::parse_network_claim(proof, path);
  return claim.lower_bound < claim.value * (1 - check::kTolerance)
             ? fmt::format("--certificate: the file proves no more than {}, a gap of {:.2g} %",
                           check::value_text(claim.lower_bound, claim.goal),
                           100 * (claim.value / claim.lower_bound - 1))
             : "";
}

Answer run_fused(const NetworkArguments& arguments, const Arch& arch, const Network& network) {
  SearchOptions options;
  options.objective = complete(arguments.objective, arch.clock);
  refuse_beside_fusion(arguments, options.objective);
  if (!network.graph) {
    throw UsageError(
        fmt::format("{} is a list of layers, which does not say what each reads; --fuse needs "
                    "a graph (configs/networks/graphs, or an ONNX model)",
                    network.name));
  }
  if (const std::string obstacle = fusion_obstacle(arch); !obstacle.empty()) {
    throw UsageError(obstacle);
  }
  const std::string unprovable = arguments.certificate_file.empty()
                                     ? ""
                                     : network_certificate_obstacle(arch, options.objective);
  if (!unprovable.empty()) {
    throw UsageError("--certificate: " + unprovable);
  }
  OutputFile certificate{arguments.certificate_file};
  Watch watch;
  options.budget = arguments.budget;
  options.stop = &watch.stop();
  const SharedBudget budget{options};
  const FusedNetwork fused = search_fused(
      arch, network, arguments.fusion, options, [&](const GraphChains& graph, std::size_t i) {
        watch.say(fmt::format(", chain {} of {}: {}", i + 1, graph.chains.size(),
                              graph.chains[i].chain.name));
      });
  Answer answer;
  answer.remark = write_network_proof(arguments, arch, network, budget.rest(), fused, certificate);
  answer.text = arguments.output.json
                    ? fused_network_json(origin_of(arguments, arch, network), arch, network, fused)
                    : fused_network_text(arch, network, fused);
  const FusedTotals sums = totals(fused);
  const bool missing = !network.unpriced.empty() || sums.missing > 0 || !sums.within_limits;
  answer.code = fused.interrupted ? kInterrupted : (missing ? kNegative : kDone);
  return answer;
}

}  // namespace

Answer run(const NetworkArguments& arguments) {
  const Document machine = read_yaml(arguments.arch);
  if (describes_gpu(machine)) {
    if (arguments.fuse) {
      throw UsageError("--fuse is not for GPUs, so far");
    }
    return run_on_gpu(arguments, machine);
  }
  refuse_kernel_options(arguments.kernels);
  const Arch arch = load_arch(arguments.arch);
  const Network network = network_of(arguments.network, arguments.onnx);
  if (arguments.fuse) {
    return run_fused(arguments, arch, network);
  }

  NetworkOptions options;
  options.search.threads =
      arguments.strategy == "exhaustive" ? 1 : threads_to_use(arguments.threads);
  Watch watch;
  options.strategy = arguments.strategy;
  options.frames = frames_of(arch, arguments.batches);
  options.search.objective = complete(arguments.objective, arch.clock);
  options.search.evaluations = arguments.evaluations;
  options.search.seed = static_cast<std::uint64_t>(arguments.seed);
  options.search.budget = arguments.budget;
  options.search.partial_folds = true;
  options.search.stop = &watch.stop();
  LackingLayers lacking;
  options.constraints = [&](const Problem& problem) {
    std::vector<LackingRule> rules;
    Constraints constraints =
        read_space(problem, arguments.constraints, arguments.even, arguments.imperfect, rules);
    lacking.add(rules, problem.workload().name);
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
