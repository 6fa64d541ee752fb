// SPDX-License-Identifier: Apache-2.0
#include "mapsim/systems.hpp"

#include <stdexcept>
#include <utility>

#include "campaign/network_certificate.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/objective_range.hpp"
#include "mapsim/request.hpp"
#include "plan/request.hpp"
#include "report/certificate.hpp"
#include "report/chain_check.hpp"
#include "report/chain_search.hpp"
#include "report/design_check.hpp"
#include "report/plan_check.hpp"

namespace mapsim {

namespace {

// What a search of chains takes of a request.
SearchOptions chain_options(const Arch& arch, const SearchRequest& request) {
  for (const std::string& obstacle :
       {fusion_obstacle(arch), fusion_obstacle(request.options.objective)}) {
    if (!obstacle.empty()) {
      throw UnsupportedSearch{obstacle};
    }
  }
  const std::vector<std::pair<bool, const char*>> refused{
      {request.strategy != "exact", "a strategy other than exact"},
      {!request.constraints.empty(), "constraints"},
      {request.even, "even"},
      {request.imperfect, "imperfect"},
      {request.batches, "batches"},
      {request.options.budget.gap > 0, "gap"},
      {request.options.budget.labels != Budget{}.labels, "budget_labels"}};
  for (const auto& [is_given, what] : refused) {
    if (is_given) {
      throw UnsupportedSearch{std::string{what} + ": not for fused layers, so far"};
    }
  }
  return request.options;
}

Provenance origin_of(const char* command) { return {command, {}, {}}; }

std::vector<const Network*> pointers(const std::vector<std::shared_ptr<const Network>>& networks) {
  std::vector<const Network*> all;
  all.reserve(networks.size());
  for (const auto& network : networks) {
    all.push_back(network.get());
  }
  return all;
}

void check_graph(const Network& network) {
  if (!network.graph) {
    throw std::invalid_argument{
        network.name +
        ": a list of layers, which does not say what each reads; a graph "
        "is needed: an ONNX model, or a shipped one such as graphs/resnet50"};
  }
}

}  // namespace

ChainSolution fuse(const Arch& arch, const EinsumChain& chain, const SearchRequest& request,
                   const FusionLimits& limits) {
  const SearchOptions options = chain_options(arch, request);
  if (const std::string obstacle = range_obstacle(options.objective.function, arch, chain.einsums);
      !obstacle.empty()) {
    throw UnsupportedSearch{obstacle};
  }
  return {arch, chain, limits, compare_ways(arch, chain, limits, options)};
}

std::string to_json(const ChainSolution& solution) {
  return chain_search_json(origin_of("search"), solution.arch, solution.chain, solution.found);
}

std::string to_text(const ChainSolution& solution) {
  return chain_search_text(solution.arch, solution.chain, solution.found);
}

std::string tree_yaml(const ChainSolution& solution) {
  const auto& best = solution.found.fused.best;
  return best ? print_tree(solution.arch, solution.chain, *best) : "";
}

ChainCurveSolution fusion_curve(const Arch& arch, const EinsumChain& chain,
                                const std::string& capacity, const SearchRequest& request,
                                const FusionLimits& limits) {
  const SearchOptions options = chain_options(arch, request);
  const Parsed<CurveCapacity> parsed = parse_curve_capacity(capacity, arch);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    throw std::invalid_argument{"level: " + *wrong};
  }
  ChainCurveSolution solution{arch, chain, {}};
  ChainCurves& curves = solution.curves;
  curves.of = std::get<CurveCapacity>(parsed);
  curves.objective = options.objective;
  if (curves.of.level == LevelId{0}) {
    throw std::invalid_argument{"level: " + capacity + " holds everything; take one further in"};
  }
  const auto curve = [&](const FusionLimits& within) {
    return search_chain_curve(arch, chain, within, options, curves.of, [](Bits) {});
  };
  curves.spilled = curve({1, 0, false});
  curves.on_chip = curve({1, 0, true});
  curves.fused = curve(limits);
  return solution;
}

std::string to_json(const ChainCurveSolution& solution) {
  return chain_curves_json(origin_of("search"), solution.arch, solution.chain, solution.curves);
}

std::string to_text(const ChainCurveSolution& solution) {
  return chain_curves_text(solution.arch, solution.chain, solution.curves);
}

std::string to_svg(const ChainCurveSolution& solution) {
  return chain_curves_svg(solution.arch, solution.chain, solution.curves);
}

FusedSolution fuse(const Arch& arch, const Network& network, const SearchRequest& request,
                   const FusionLimits& limits) {
  check_graph(network);
  if (const std::string obstacle = fused_network_obstacle(request.options.objective);
      !obstacle.empty()) {
    throw UnsupportedSearch{obstacle};
  }
  const SearchOptions options = chain_options(arch, request);
  return {arch, network,
          search_fused(arch, network, limits, options, [](const GraphChains&, std::size_t) {}),
          limits, kept(options)};
}

std::string to_json(const FusedSolution& solution) {
  return fused_network_json(origin_of("network"), solution.arch, solution.network, solution.fused);
}

std::string to_text(const FusedSolution& solution) {
  return fused_network_text(solution.arch, solution.network, solution.fused);
}

std::string proof_yaml(const FusedSolution& solution, const std::atomic<bool>* stop) {
  if (const std::string obstacle =
          network_certificate_obstacle(solution.arch, solution.options.objective);
      !obstacle.empty()) {
    throw UnsupportedSearch{obstacle};
  }
  SearchOptions options = solution.options;
  options.stop = stop;
  return network_certificate_file(origin_of("network"), solution.arch, solution.network,
                                  solution.limits, options, solution.fused);
}

PlanSolution plan(const Soc& soc, const Network& network, const PlanOptions& options) {
  check_graph(network);
  if (const auto conflict = conflict_of(options)) {
    throw std::invalid_argument{conflict->option + " " + conflict->why};
  }
  PlanSolution solution{soc, std::make_shared<const Network>(network), options, {}};
  solution.answer =
      make_plan(solution.soc, *solution.network, options, soc.name, solution.network->name);
  solution.options.stop = nullptr;
  return solution;
}

std::string to_json(const PlanSolution& solution) {
  return plan_json(origin_of("plan"), solution.soc, *solution.network, solution.options,
                   solution.answer);
}

std::string to_text(const PlanSolution& solution) {
  return plan_text(solution.soc, *solution.network, solution.options, solution.answer);
}

std::string to_trace(const PlanSolution& solution) {
  return plan_trace(solution.soc, *solution.network, solution.answer);
}

std::string proof_json(const PlanSolution& solution) {
  return has_certificate(solution.options, solution.answer)
             ? plan_certificate(solution.soc, *solution.network, solution.options, solution.answer)
             : std::string{};
}

StreamSolution plan_stream(const Soc& soc, const std::vector<Network>& networks,
                           const std::vector<std::int64_t>& batches, PlanOptions options) {
  if (networks.size() != soc.engines.size() || batches.size() != soc.engines.size()) {
    throw std::invalid_argument{"plan_stream: a network and a batch for each engine"};
  }
  options.objective = PlanObjective::kThroughput;
  StreamSolution solution{soc, {}, options, {}};
  for (const Network& network : networks) {
    check_graph(network);
    solution.networks.push_back(std::make_shared<const Network>(network));
  }
  solution.answer = make_stream(solution.soc, pointers(solution.networks), batches, options,
                                soc.name, solution.networks.front()->name);
  solution.options.stop = nullptr;
  return solution;
}

std::string to_json(const StreamSolution& solution) {
  return stream_json(origin_of("plan"), solution.soc, *solution.networks.front(), solution.options,
                     solution.answer);
}

std::string to_text(const StreamSolution& solution) {
  return stream_text(solution.soc, *solution.networks.front(), solution.answer);
}

std::string proof_json(const StreamSolution& solution) {
  return stream_certificate(solution.soc, *solution.networks.front(), solution.options,
                            solution.answer);
}

VerifiedPlan verify_plan(const std::string& proof, const std::string& name) {
  check::PlanClaim claim = check::parse_plan_claim(proof, name);
  check::PlanVerdict verdict = check::check_plan(claim);
  return {std::move(claim), std::move(verdict)};
}

std::string to_json(const VerifiedPlan& verified) {
  return plan_check_json(origin_of("check"), verified.claim, verified.verdict);
}

std::string proof_yaml(const ChainSolution& solution) {
  const std::string obstacle = check::chain_proof_obstacle(solution.arch);
  if (!obstacle.empty()) {
    throw UnsupportedSearch{obstacle};
  }
  return chain_certificate_file(origin_of("search"), solution.arch, solution.chain, solution.limits,
                                solution.found.objective, solution.found.fused);
}

VerifiedChain verify_chain(const std::string& proof, const std::string& name,
                           const check::CheckOptions& options) {
  check::ChainClaim claim = check::parse_chain_claim(proof, name);
  check::ChainVerdict verdict = check::check_chain(claim, options.max_steps, options.effort.stop);
  return {std::move(claim), std::move(verdict)};
}

std::string to_json(const VerifiedChain& verified) {
  return chain_check_json(origin_of("check"), verified.claim, verified.verdict);
}

DesignSolution best_design(const Campaign& space, const DesignOptions& options) {
  DesignSolution solution{space, options, {}};
  solution.answer = search_design(solution.space, options);
  solution.options.stop = nullptr;
  solution.options.progress = {};
  solution.options.answers = nullptr;
  return solution;
}

std::string to_json(const DesignSolution& solution) {
  return design_json(origin_of("design"), solution.space, solution.options, solution.answer);
}

std::string to_text(const DesignSolution& solution) {
  return design_text(solution.space, solution.options, solution.answer);
}

std::string arch_yaml(const DesignSolution& solution) {
  return solution.answer.best() != nullptr ? best_arch_text(solution.space, solution.answer) : "";
}

std::string certificate_text(const DesignSolution& solution) {
  return solution.options.certificate
             ? design_certificate(solution.space, solution.options, solution.answer)
             : "";
}

VerifiedDesigns verify_designs(const std::string& proof, const std::string& name,
                               const check::DesignCheckOptions& options) {
  check::DesignCertificate certificate = check::parse_design_certificate(proof, name);
  check::DesignVerdict verdict = check::check_design(certificate, options);
  return {std::move(certificate), std::move(verdict)};
}

std::string to_json(const VerifiedDesigns& verified) {
  return design_check_json(origin_of("check"), verified.certificate, verified.verdict);
}

}  // namespace mapsim
