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

// What differs is rounding, unless it is more than that.
double excess_of(double value, double reference) {
  const double excess = value / reference - 1;
  return std::abs(excess) <= kRounding ? 0 : excess;
}

// What a search that was stopped leaves open; nothing after a proof.
std::string open_text(const GapReport& gap, double given, double best) {
  if (!gap.lower_bound) {
    return "";
  }
  std::string text = fmt::format("  not proven: the optimum may be up to {} below the best found",
                                 percent(1 - *gap.lower_bound / best));
  if (gap.outside.empty()) {
    text +=
        fmt::format("; the mapping is at most {} above it", percent(given / *gap.lower_bound - 1));
  }
  return text + "\n";
}

}  // namespace

std::string gap_text(const Problem& problem, const GapReport& gap, const Cost& given) {
  if (!gap.best) {
    return gap.lower_bound ? "why: the search was stopped before it found a mapping that fits\n"
                           : "why: nothing in the searched mapspace fits\n";
  }
  const Cost& best = *gap.best;
  const double value = objective_value(gap.objective, given);
  const double reference = objective_value(gap.objective, best);
  const double excess = excess_of(value, reference);
  const char* optimum = gap.lower_bound ? "best found" : "proven optimum";
  std::string text = "why:\n";
  if (!gap.outside.empty()) {
    text += fmt::format("  the mapping lies outside of the searched space: {}\n", gap.outside);
  }
  text += fmt::format("  {} {} the {}{} in {}; energy {} against {}, {} against {} cycles\n",
                      percent(std::abs(excess)), excess < 0 ? "below" : "above", optimum,
                      gap.outside.empty() ? "" : " of that space", to_string(gap.objective),
                      energy_text(given.energy.total), energy_text(best.energy.total),
                      grouped(latency_of(gap.objective.mode, given.latency).count()),
                      grouped(latency_of(gap.objective.mode, best.latency).count()));
  text += open_text(gap, value, reference);
  std::vector<Row> rows;
  for (const EnergyShare& share : compare_energy(problem, given, best)) {
    rows.push_back(
        {name_of(problem, share), signed_percent(share.difference_pj / best.energy.total.count())});
  }
  text += rows.empty()
              ? fmt::format("  it spends its energy exactly as the {} does\n", optimum)
              : fmt::format("  of the energy of the {}, more (+) or less (-):\n", optimum) +
                    table(rows);
  return gap.lower_bound ? text : text + '\n' + relief_text(gap.objective, gap.reliefs);
}

std::string relief_text(const Objective& objective, const std::vector<Relief>& reliefs) {
  std::vector<Row> rows;
  std::string unknown;
  constexpr double kShown = 0.0005;  // what percent() does not round to nothing
  for (const Relief& relief : reliefs) {
    if (!relief.known) {
      unknown += (unknown.empty() ? "" : ", ") + relief.resource;
    } else if (relief.gain >= kShown) {
      rows.push_back({relief.resource, fmt::format("-{}", percent(relief.gain))});
    }
  }
  if (reliefs.empty()) {
    return "nothing finite could be doubled\n";
  }
  if (!unknown.empty()) {
    unknown = fmt::format("not known before the search was stopped: twice of {}\n", unknown);
  }
  if (rows.empty() && !unknown.empty()) {
    return unknown;
  }
  if (rows.empty()) {
    return fmt::format(
        "no capacity or bandwidth helps the {}: twice of any gains less than 0.1 %\n",
        to_string(objective));
  }
  return fmt::format("{} of the optimum, if one of these were twice as large:\n",
                     to_string(objective)) +
         table(rows) + unknown;
}

}  // namespace mapsim
