// SPDX-License-Identifier: Apache-2.0
#include "report/accesses.hpp"

#include <fmt/format.h>

#include "costmodel/explain.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

namespace {

std::string format_at(const Problem& problem, const EnergyTerm& term) {
  for (const LevelId l : problem.arch().levels.ids()) {
    if (problem.sparse() != nullptr && term.tensor && problem.arch().levels[l].name == term.node) {
      return to_string(problem.sparse()->format(l, *term.tensor));
    }
  }
  return "";
}

}  // namespace

std::vector<ActionRow> action_rows(const Problem& problem, const Cost& cost) {
  std::vector<ActionRow> rows;
  for (const EnergyTerm& term : explain_energy(problem, cost)) {
    const std::size_t comma = term.action.find(", ");
    const std::string action = term.action.substr(0, comma);
    const std::string what = comma == std::string::npos ? "" : term.action.substr(comma + 2);
    const std::string tensor = term.tensor ? problem.workload().tensors[*term.tensor].name : "";
    if (rows.empty() || rows.back().node != term.node || rows.back().tensor != tensor ||
        rows.back().action != action) {
      rows.push_back({term.node, tensor, format_at(problem, term), action});
    }
    ActionRow& row = rows.back();
    const auto add = [&](double& count, Picojoules& energy, double share) {
      count += term.count * share;
      energy += term.energy;
    };
    what == "format"    ? add(row.format_bits, row.format_energy, 1)
    : what == "gated"   ? add(row.gated, row.gated_energy, 1)
    : what == "skipped" ? add(row.skipped, row.skipped_energy, 1)
                        : add(row.made, row.energy, term.density);
  }
  return rows;
}

std::string action_csv(const Problem& problem, const Cost& cost) {
  std::string text =
      "node,tensor,format,action,made,gated,skipped,format_bits,made_pj,gated_pj,skipped_pj,"
      "format_pj\n";
  for (const ActionRow& row : action_rows(problem, cost)) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.node),
                        csv_field(row.tensor), csv_field(row.format), csv_field(row.action),
                        row.made, row.gated, row.skipped, row.format_bits, row.energy.count(),
                        row.gated_energy.count(), row.skipped_energy.count(),
                        row.format_energy.count());
  }
  return text;
}

PageTable action_table(const Problem& problem, const Cost& cost) {
  PageTable table{
      "actions",
      "What the machine does for the mapping, in all instances, and the energy that it takes. "
      "Made: elements of the accesses, or the number of operations.",
      {{"node", "node", true},
       {"tensor", "tensor", true},
       {"action", "action", true},
       {"made", "made"}},
      {}};
  const bool knows_zeros = cost.sparse != nullptr;
  if (knows_zeros) {
    table.caption += " With zeros, on average over data sets.";
    table.columns.insert(table.columns.begin() + 2, {"format", "format", true});
    table.columns.insert(
        table.columns.end(),
        {{"gated", "gated"}, {"skipped", "skipped"}, {"format_bits", "format bits"}});
  }
  table.columns.push_back({"energy", "energy [pJ]"});
  for (const ActionRow& row : action_rows(problem, cost)) {
    std::vector<TableCell> cells{row.node, row.tensor};
    if (knows_zeros) {
      cells.emplace_back(row.format);
    }
    cells.insert(cells.end(), {row.action, row.made});
    if (knows_zeros) {
      cells.insert(cells.end(), {row.gated, row.skipped, row.format_bits});
    }
    cells.emplace_back(row.all().count());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace mapsim
