// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "arch/print.hpp"
#include "check/certificate.hpp"
#include "check/chain_proof.hpp"
#include "check/sealed_file.hpp"
#include "report/certificate.hpp"
#include "report/certificate_subject.hpp"
#include "workloads/print.hpp"

namespace mapsim {

std::string indented(const std::string& text) {
  std::string shifted;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    shifted += "  " + text.substr(begin, end - begin);
    begin = end;
  }
  return shifted;
}

std::string inputs_text(const Provenance& origin) {
  std::string text = "inputs:\n";
  for (const InputFile& input : origin.inputs) {
    text += fmt::format("  - {{role: {}, fnv1a: \"{:016x}\"}}\n", input.role, input.hash);
  }
  return text;
}

std::string subject_text(const Provenance& origin, const Arch& arch, const std::string& layer) {
  return inputs_text(origin) + "architecture:\n" + indented(print_arch(arch)) + "workload:\n" +
         indented(layer);
}

namespace {

// What the search proved of sums over einsums.
std::vector<check::ProvenSum> sums_of(const std::vector<HullLine>& lines) {
  std::vector<check::ProvenSum> sums;
  for (const HullLine& line : lines) {
    if (line.least > 0) {
      sums.push_back({std::isinf(line.weight) ? Objective::kLatency.function
                      : line.weight > 0       ? ObjectiveFunction::weighted_sum(line.weight)
                                              : Objective::kEnergy.function,
                      line.least});
    }
  }
  return sums;
}

// "limits: {max_latency: 20 cycles}", if there are any.
std::string limits_line(const check::Goal& goal) {
  std::vector<std::string> limits;
  if (goal.max_energy) {
    limits.push_back(fmt::format("max_energy: {} pJ", *goal.max_energy));
  }
  if (goal.max_latency) {
    limits.push_back(fmt::format("max_latency: {} cycles", *goal.max_latency));
  }
  return limits.empty() ? "" : fmt::format("limits: {{{}}}\n", fmt::join(limits, ", "));
}

std::string sums_text(const std::vector<check::ProvenSum>& sums) {
  std::string text = "sums:\n";
  for (const check::ProvenSum& sum : sums) {
    check::Goal goal;  // for its unit
    goal.function = sum.function;
    text += fmt::format("  - {{objective: {}, least: {}}}\n", to_string(sum.function),
                        check::value_text(sum.least, goal));
  }
  return text;
}

std::string claim_lines(const Arch& arch, const FusionLimits& limits, const check::Goal& goal,
                        double value, double bound, const std::vector<check::ProvenSum>& sums) {
  return fmt::format(
      "chain_certificate: 2\ntool: mapsim {}\nobjective: {}\n{}value: {}\nlower_bound: {}\n{}"
      "space: {{max_group: {}, shared_loops: {}, hold: {}{}}}\n",
      tool_version(), to_string(goal.function), limits_line(goal), check::value_text(value, goal),
      check::value_text(bound, goal), sums.empty() ? "" : sums_text(sums), limits.most_einsums,
      limits.most_loops, limits.may_hold,
      limits.only_level ? ", level: " + arch.levels[*limits.only_level].name : "");
}

}  // namespace

std::string chain_certificate_file(const Provenance& origin, const Arch& arch,
                                   const EinsumChain& chain, const FusionLimits& limits,
                                   const Objective& objective, const ChainResult& result) {
  check::Goal goal;
  goal.function = objective.function;
  if (objective.max_energy) {
    goal.max_energy = objective.max_energy->count();
  }
  if (objective.max_latency) {
    goal.max_latency = static_cast<double>(objective.max_latency->count());
  }
  const double value = result.cost ? value_of(objective, *result.cost) : HUGE_VAL;
  double bound = result.proven ? value : std::min(value, result.lower_bound);
  std::vector<check::ProvenSum> sums;
  if (!check::is_one_sum(goal)) {
    sums = sums_of(result.lines);
    const double least = check::least_of_sums(goal, sums);
    bound = check::exceeds(value, least) ? least : value;
    sums = check::needed_sums(goal, std::move(sums), bound * (1 - check::kTolerance / 2));
  }
  // A value that exceeds the largest number says nothing.
  if (result.best ? !(value < HUGE_VAL) : !result.proven || bound < HUGE_VAL) {
    return "";
  }
  std::string text = claim_lines(arch, limits, goal, value, bound, sums);
  if (result.best) {
    text += print_tree(arch, chain, *result.best);
  }
  text += subject_text(origin, arch, print_chain(chain));
  return text + check::seal(text);
}

std::string chain_bound_file(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                             const Objective& objective, double bound) {
  check::Goal goal;
  goal.function = objective.function;
  const std::string text = claim_lines(arch, limits, goal, HUGE_VAL, bound, {}) +
                           subject_text({"search", {}}, arch, print_chain(chain));
  return text + check::seal(text);
}

}  // namespace mapsim
