// SPDX-License-Identifier: Apache-2.0
#include "report/why.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

// "DRAM input read", "GLB_to_PE input hops", "GLB_to_PE additions", "compute"
std::string name_of(const Problem& problem, const EnergyShare& share) {
  const Arch& arch = problem.arch();
  std::string name;
  if (share.level) {
    name += arch.levels[*share.level].name + " ";
  }
  if (share.fanout) {
    name += arch.fanouts[*share.fanout].name + " ";
  }
  if (share.tensor) {
    name += problem.workload().tensors[*share.tensor].name + " ";
  }
  return name + share.action;
}

std::string signed_percent(double share) {
  return fmt::format("{}{}", share < 0 ? "-" : "+", percent(std::abs(share)));
}

}  // namespace

std::string gap_text(const Problem& problem, const GapReport& gap, const Cost& given) {
  if (!gap.best) {
    return "why: nothing in the searched mapspace fits\n";
  }
  const Cost& best = *gap.best;
  const double optimum = best.energy.total.count();
  std::string text = "why:\n";
  text += fmt::format(
      "  {} above the proven optimum in {}; energy {} against {}, {} against {} cycles\n",
      percent(objective_value(gap.objective, given) / objective_value(gap.objective, best) - 1),
      to_string(gap.objective), energy_text(given.energy.total), energy_text(best.energy.total),
      grouped(latency_of(gap.objective.mode, given.latency).count()),
      grouped(latency_of(gap.objective.mode, best.latency).count()));
  std::vector<Row> rows;
  for (const EnergyShare& share : compare_energy(problem, given, best)) {
    rows.push_back({name_of(problem, share), signed_percent(share.difference_pj / optimum)});
  }
  text += rows.empty() ? "  it spends its energy exactly as the optimum does\n"
                       : "  of the optimum's energy, more (+) or less (-):\n" + table(rows);
  return text + '\n' + relief_text(gap.objective, gap.reliefs);
}

std::string relief_text(const Objective& objective, const std::vector<Relief>& reliefs) {
  std::vector<Row> rows;
  constexpr double kShown = 0.0005;  // what percent() does not round to nothing
  for (const Relief& relief : reliefs) {
    if (relief.gain >= kShown) {
      rows.push_back({relief.resource, fmt::format("-{}", percent(relief.gain))});
    }
  }
  if (reliefs.empty()) {
    return "nothing finite could be doubled\n";
  }
  if (rows.empty()) {
    return fmt::format(
        "no capacity or bandwidth helps the {}: twice of any gains less than 0.1 %\n",
        to_string(objective));
  }
  return fmt::format("{} of the optimum, if one of these were twice as large:\n",
                     to_string(objective)) +
         table(rows);
}

}  // namespace mapsim
