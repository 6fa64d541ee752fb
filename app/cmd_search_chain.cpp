// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/option.hpp"
#include "app/watch.hpp"
#include "arch/load.hpp"
#include "check/certificate.hpp"
#include "check/chain_proof.hpp"
#include "costmodel/objective_range.hpp"
#include "mapper/fusion/chain_search.hpp"
#include "mapper/shared_budget.hpp"
#include "report/certificate.hpp"
#include "report/chain_curve.hpp"
#include "report/chain_front.hpp"
#include "report/chain_search.hpp"
#include "report/figures.hpp"
#include "report/front.hpp"

namespace mapsim {

namespace {

void refuse_options(const SearchArguments& a) {
  const std::vector<std::pair<bool, const char*>> refused{
      {!a.constraints.empty(), "--constraints"},
      {a.strategy != "exact", "--strategy"},
      {a.even, "--even"},
      {a.imperfect, "--imperfect"},
      {a.batches, "--batches"},
      {!a.trace.empty(), "--trace"},
      {a.why, "--why"},
      {a.explain_energy, "--explain-energy"},
      {a.print_constraints, "--print-constraints"},
      {a.budget.gap > 0, "--gap"},
      {a.budget.labels != Budget{}.labels, "--budget-labels"}};
  for (const auto& [is_given, name] : refused) {
    if (is_given) {
      throw UsageError(fmt::format("{} is for searches of one layer, not of a chain", name));
    }
  }
}

void refuse_figures(const SearchArguments& a) {
  const bool is_figure = a.pareto || !a.curve.empty();
  if (!a.mapping_file.empty() && is_figure) {
    throw UsageError("--save-mapping: a front or a curve of a chain has many; --json prints them");
  }
  if (!a.svg.empty() && !is_figure) {
    throw UsageError("--svg: it draws a front or a curve; give --pareto or --curve LEVEL, too");
  }
}

// Three curves over one capacity, within limits if there are any: two layer by layer, and the best.
Answer run_curves(const SearchArguments& arguments, const Arch& arch, const EinsumChain& chain,
                  const SearchOptions& options, Watch& watch) {
  ChainCurves curves;
  curves.objective = options.objective;
  const auto wrong = taken(parse_curve_capacity(arguments.curve, arch),
                           [&](const CurveCapacity& of) { curves.of = of; });
  if (wrong) {
    throw UsageError("--curve: " + *wrong);
  }
  if (curves.of.level == LevelId{0}) {
    throw UsageError(fmt::format("--curve: {} holds everything; take a level further in",
                                 arch.levels[curves.of.level].name));
  }
  OutputFile picture{arguments.svg};
  const SharedBudget budget{options};
  const auto curve = [&](const FusionLimits& limits) {
    return search_chain_curve(arch, chain, limits, budget.rest(), curves.of, [&](Bits capacity) {
      watch.say(fmt::format(", with {}", bytes_text(capacity)));
    });
  };
  curves.spilled = curve({1, 0, false});
  curves.on_chip = curve({1, 0, true});
  curves.fused = curve(arguments.fusion);
  picture.write(chain_curves_svg(arch, chain, curves));
  const ExitCode done = curves.fused.steps.empty() ? kNegative : kDone;
  const ExitCode code = !curves.fused.complete && watch.stop() ? kInterrupted : done;
  if (arguments.output.json) {
    const Provenance origin{"search", input_files(arguments.arch, arch, arguments.workload)};
    return {code, chain_curves_json(origin, arch, chain, curves)};
  }
  return {code, chain_curves_text(arch, chain, curves)};
}

// Energy against latency, fused and layer by layer, within limits if there are any.
Answer run_fronts(const SearchArguments& arguments, const Arch& arch, const EinsumChain& chain,
                  const SearchOptions& options, Watch& watch) {
  OutputFile picture{arguments.svg};
  const SharedBudget budget{options};
  ChainFronts fronts;
  fronts.on_chip = search_chain_front(arch, chain, {1, 0, true}, budget.rest());
  fronts.fused = search_chain_front(arch, chain, arguments.fusion, budget.rest());
  picture.write(chain_front_svg(arch, chain, fronts.fused));
  const ExitCode done = fronts.fused.points.empty() ? kNegative : kDone;
  const ExitCode code = !fronts.fused.complete && watch.stop() ? kInterrupted : done;
  if (arguments.output.json) {
    const Provenance origin{"search", input_files(arguments.arch, arch, arguments.workload)};
    return {code, chain_fronts_json(origin, arch, chain, fronts)};
  }
  return {code, chain_fronts_text(arch, chain, fronts)};
}

// The checker proves optima on machines whose trees it can bound.
void refuse_certificate(const SearchArguments& a, const Arch& arch) {
  if (a.certificate_file.empty()) {
    return;
  }
  if (a.pareto || !a.curve.empty()) {
    throw UsageError("--certificate: of a chain the checker proves one optimum, no front or curve");
  }
  if (const std::string obstacle = check::chain_proof_obstacle(arch); !obstacle.empty()) {
    throw UsageError("--certificate: " + obstacle);
  }
}

// Writes the proof. Returns what it does not show of what was found.
std::string write_certificate(const SearchArguments& arguments, const Provenance& origin,
                              const Arch& arch, const EinsumChain& chain,
                              const ChainComparison& found, OutputFile& file) {
  const std::string& path = arguments.certificate_file;
  if (path.empty()) {
    return "";
  }
  const std::string proof =
      chain_certificate_file(origin, arch, chain, arguments.fusion, found.objective, found.fused);
  if (proof.empty()) {
    file.remove();
    return found.fused.cost
               ? fmt::format(
                     "--certificate: the objective of the best tree exceeds the largest number: no "
                     "certificate in {}",
                     path)
           : found.fused.proven
               ? fmt::format(
                     "--certificate: the file could not prove that nothing keeps the "
                     "limits: no certificate in {}",
                     path)
               : fmt::format(
                     "--certificate: stopped before anything was found: no certificate in {}",
                     path);
  }
  file.write(proof);
  const check::ChainClaim claim = check::parse_chain_claim(proof, path);
  const bool is_less = claim.lower_bound < found.fused.lower_bound * (1 - check::kTolerance);
  return is_less ? fmt::format("--certificate: the file proves no more than {}, a gap of {:.2g} %",
                               check::value_text(claim.lower_bound, claim.goal),
                               100 * (claim.value / claim.lower_bound - 1))
                 : "";
}

}  // namespace

Answer run_on_chain(const SearchArguments& arguments) {
  refuse_options(arguments);
  const Arch arch = load_arch(arguments.arch);
  const EinsumChain chain = load_chain(arguments.workload);
  if (const std::string obstacle = fusion_obstacle(arch); !obstacle.empty()) {
    throw UsageError(obstacle);
  }
  SearchOptions options;
  options.objective = complete(arguments.objective, arch.clock);
  for (const std::string& obstacle :
       {fusion_obstacle(options.objective),
        range_obstacle(options.objective.function, arch, chain.einsums)}) {
    if (!obstacle.empty()) {
      throw UsageError(obstacle);
    }
  }
  options.budget = arguments.budget;
  refuse_figures(arguments);
  refuse_certificate(arguments, arch);
  Watch watch;
  options.stop = &watch.stop();
  if (!arguments.curve.empty()) {
    return run_curves(arguments, arch, chain, options, watch);
  }
  if (arguments.pareto) {
    return run_fronts(arguments, arch, chain, options, watch);
  }
  const Provenance origin{"search", input_files(arguments.arch, arch, arguments.workload)};
  OutputFile mapping_file{arguments.mapping_file};
  OutputFile certificate{arguments.certificate_file};
  const ChainComparison found = compare_ways(arch, chain, arguments.fusion, options);
  if (found.fused.best) {
    mapping_file.write(print_tree(arch, chain, *found.fused.best));
  }
  Answer answer;
  answer.remark = write_certificate(arguments, origin, arch, chain, found, certificate);
  const ExitCode done = found.fused.best ? kDone : kNegative;
  answer.code = !found.fused.proven && watch.stop() ? kInterrupted : done;
  answer.text = arguments.output.json ? chain_search_json(origin, arch, chain, found)
                                      : chain_search_text(arch, chain, found);
  return answer;
}

}  // namespace mapsim
