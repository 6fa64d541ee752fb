// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/inputs.hpp"
#include "app/space.hpp"
#include "app/startable_threads.hpp"
#include "arch/load.hpp"
#include "arch/print.hpp"
#include "check/chain_proof.hpp"
#include "check/check.hpp"
#include "check/plan_proof.hpp"
#include "check/scope.hpp"
#include "costmodel/reference/data_set.hpp"
#include "report/certificate.hpp"
#include "report/chain_check.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/plan_check.hpp"
#include "report/widths.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

// A proof may hold and be about something else.
std::vector<std::string> strangers(const CheckArguments& arguments,
                                   const check::Certificate& certificate) {
  std::vector<std::string> found;
  const Workload& workload = certificate.problem.workload();
  const auto print = certificate.rules.schedules ? print_layer : print_workload;
  if (!arguments.layer.empty() && print(load_workload(arguments.layer)) != print(workload)) {
    found.push_back(fmt::format("it is not about the workload of {}", arguments.layer));
  }
  if (!arguments.machine.empty()) {
    const Problem asked{load_arch(arguments.machine), workload};  // energies may depend on widths
    if (print_arch(asked.arch()) != print_arch(certificate.problem.arch())) {
      found.push_back(fmt::format("it is not about the architecture of {}", arguments.machine));
    }
  }
  if (!arguments.constraints.empty()) {
    const Mapspace asked{certificate.problem,
                         read_space(certificate.problem, arguments.constraints, false, false)};
    if (mapspace_rules(asked) != "rules:\n" + certificate.rules_text) {
      found.push_back(fmt::format("it is not about the mapspace of {}, which has other rules",
                                  arguments.constraints));
    }
  }
  return found;
}

std::string claim_text(const check::Certificate& certificate) {
  const check::Goal& goal = certificate.goal;
  const char* const thing = certificate.rules.schedules ? "schedule" : "mapping";
  if (certificate.is_front()) {
    return fmt::format("for every {} one of the {} points is at least as good in both figures{}",
                       thing, certificate.points.size(),
                       certificate.gap > 0
                           ? fmt::format(", but for a gap of {:.3g} %", 100 * certificate.gap)
                           : std::string{});
  }
  const std::string best = check::value_text(certificate.value, goal);
  if (certificate.points.empty() && !(certificate.lower_bound < certificate.value)) {
    return fmt::format("no {} fits", thing);
  }
  return certificate.lower_bound < certificate.value
             ? fmt::format("no {} is better than {}; the one in the file has {}", thing,
                           check::value_text(certificate.lower_bound, goal), best)
         : goal.kind == check::Goal::Kind::kTies
             ? fmt::format("no {} is better than {}, and none of that value has less than {}",
                           thing, best,
                           check::measure_text(certificate.points[0].figures.second, goal))
             : fmt::format("no {} is better than {}, and the one in the file has that value", thing,
                           best);
}

// What a claim is worth depends on what it leaves out.
std::string scope_text(const check::Certificate& certificate) {
  return fmt::format("objective: {}\nrules:\n{}", check::goal_text(certificate.goal),
                     certificate.rules_text);
}

// What is proven, and what is not: first, so that nobody takes the one for the other.
std::string headline(const check::Certificate& certificate, const check::Verdict& verdict) {
  const Problem& problem = certificate.problem;
  const check::Scope scope = check::scope_of(certificate, verdict);
  return fmt::format(
      "{} on {}: the proof {}\n{}\n"
      "claim: {}\nverified: {}\nnot verified: {}\n",
      problem.workload().name, problem.arch().name,
      verdict.problems.empty() ? "holds" : "does not hold",
      widths_text(widths_of(problem.workload())), claim_text(certificate),
      scope.verified.empty() ? "nothing" : fmt::format("{}", fmt::join(scope.verified, "; ")),
      fmt::join(scope.unverified, "; "));
}

std::string verdict_text(const check::Certificate& certificate, const check::Verdict& verdict) {
  std::string text = headline(certificate, verdict) + scope_text(certificate) + "\n";
  if (!verdict.problems.empty()) {
    text += "what is wrong:\n";
    for (const std::string& wrong : verdict.problems) {
      text += fmt::format("  {}\n", wrong);
    }
    return text;
  }
  text += "how it was checked:\n";
  if (!certificate.points.empty()) {
    text += fmt::format(
        "  {} in the mapspace, {}, and {} what is claimed{}\n",
        certificate.is_front() ? "the mappings lie" : "the mapping lies",
        certificate.is_front() ? "fit" : "fits", certificate.is_front() ? "cost" : "costs",
        !verdict.walked ? ""
        : certificate.problem.sparse() == nullptr || has_known_zeros(certificate.problem.workload())
            ? "; a simulation gives the same counts"
            : "; a simulation gives the same dense counts");
  }
  if (certificate.rules.schedules) {
    return text + fmt::format(
                      "  the engine has {} schedules in {} forms of the layer\n"
                      "  none of them is better: {} forms by a bound on all their schedules, {} by "
                      "evaluating every schedule\nchecked in {}\n",
                      grouped(verdict.schedules), grouped(verdict.forms),
                      grouped(verdict.by_unrolling_bound),
                      grouped(verdict.forms - verdict.by_unrolling_bound),
                      scaled(verdict.seconds, "s"));
  }
  const std::string examined =
      grouped(verdict.by_unrolling_bound + verdict.by_completion_bound + verdict.by_label_search);
  text += verdict.sets > 0
              ? fmt::format(
                    "{}  a closed-form bound leaves {} spatial unrollings open: {} sets of "
                    "others\n  have no better mapping\n",
                    verdict.counted ? "  the mapspace has the stated number of mappings\n" : "",
                    examined, grouped(verdict.sets))
              : fmt::format("  the mapspace has {}{} spatial unrollings\n",
                            verdict.counted ? "the stated number of mappings, in " : "", examined);
  text += fmt::format(
      "  no unrolling has a better mapping: a closed-form bound shows it for {}, the completion\n"
      "  bound for {}, and a label search for {}\n",
      grouped(verdict.by_unrolling_bound), grouped(verdict.by_completion_bound),
      grouped(verdict.by_label_search));
  return text + fmt::format("checked in {}; states: {}; labels: {}\n", scaled(verdict.seconds, "s"),
                            grouped(verdict.states), grouped(verdict.labels));
}

}  // namespace

Answer run_on_plan(const CheckArguments& arguments) {
  if (!arguments.machine.empty() || !arguments.layer.empty() || !arguments.constraints.empty()) {
    throw UsageError(
        "--arch, --workload and --constraints are about the proof of one layer; the answer names "
        "the chip and the network of a proof of a plan");
  }
  const check::PlanClaim claim = check::load_plan_claim(arguments.certificate);
  const check::PlanVerdict verdict = check::check_plan(claim);
  const bool holds = verdict.problems.empty();
  if (arguments.output.json) {
    const Provenance origin{"check", {input_file("certificate", arguments.certificate)}};
    return {holds ? kDone : kNegative, plan_check_json(origin, claim, verdict)};
  }
  std::string text = fmt::format(
      "{} on {}, {}: the proof {}\nverified: {}\nnot verified: {}\n", claim.network, claim.soc,
      claim.objective, holds ? "holds" : "does not hold",
      verdict.verified.empty() ? "nothing" : fmt::format("{}", fmt::join(verdict.verified, "; ")),
      fmt::join(verdict.unverified, "; "));
  for (const std::string& wrong : verdict.problems) {
    text += fmt::format("wrong: {}\n", wrong);
  }
  return {holds ? kDone : kNegative,
          text + fmt::format("checked by a search from the last group to the first; labels: {}\n",
                             grouped(static_cast<std::int64_t>(verdict.labels)))};
}

// A chain's certificate, and whether it is about what was asked.
Answer run_on_chain(const CheckArguments& arguments) {
  if (!arguments.constraints.empty()) {
    throw UsageError("--constraints: mapping trees of a chain have none");
  }
  const check::ChainClaim claim = check::load_chain_claim(arguments.certificate);
  const std::string chain = arguments.layer.empty() ? "" : print_chain(load_chain(arguments.layer));
  const std::string arch =
      arguments.machine.empty() ? "" : print_arch(load_arch(arguments.machine));
  Watch watch{{"checking", "stop"}};
  check::Stop stop;
  stop.flag = &watch.stop();
  check::ChainVerdict verdict = check::check_chain(claim, arguments.max_steps, stop);
  if (watch.stop()) {
    return {kInterrupted, "", kNoVerdict};
  }
  if (!chain.empty() && chain != print_chain(claim.chain)) {
    verdict.problems.push_back(fmt::format("it is not about the chain of {}", arguments.layer));
  }
  if (!arch.empty() && arch != print_arch(claim.arch)) {
    verdict.problems.push_back(
        fmt::format("it is not about the architecture of {}", arguments.machine));
  }
  const ExitCode code = verdict.problems.empty() ? kDone : kNegative;
  if (arguments.output.json) {
    const Provenance origin{"check", {input_file("certificate", arguments.certificate)}};
    return {code, chain_check_json(origin, claim, verdict)};
  }
  return {code, chain_check_text(claim, verdict)};
}

Answer run(const CheckArguments& arguments) {
  if (!arguments.space.empty() && !is_design_certificate(arguments.certificate)) {
    throw UsageError("--space: only a proof of designs is about a space; this one is another");
  }
  if (arguments.sample > 0 && !is_design_certificate(arguments.certificate)) {
    throw UsageError("--sample: only of a proof of designs a part can be checked");
  }
  if (is_chain_certificate(arguments.certificate)) {
    return run_on_chain(arguments);
  }
  if (is_network_certificate(arguments.certificate)) {
    return run_on_network(arguments);
  }
  if (is_plan_certificate(arguments.certificate)) {
    return run_on_plan(arguments);
  }
  if (is_design_certificate(arguments.certificate)) {
    return run_on_design(arguments);
  }
  const check::Certificate certificate = check::load_certificate(arguments.certificate);
  check::Verdict verdict = check::check_certificate(
      certificate, {threads_to_use(arguments.threads), arguments.max_steps});
  for (const std::string& stranger : strangers(arguments, certificate)) {
    verdict.problems.push_back(stranger);
  }
  const ExitCode code = verdict.problems.empty() ? kDone : kNegative;
  if (arguments.output.json) {
    const Provenance origin{"check", {input_file("certificate", arguments.certificate)}};
    return {code, check_json(origin, certificate, verdict)};
  }
  return {code, verdict_text(certificate, verdict)};
}

}  // namespace mapsim
