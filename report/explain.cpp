// SPDX-License-Identifier: Apache-2.0
#include "costmodel/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/figures.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace mapsim {

namespace {

// "[2]": the place of `source` in the list of all, where it is put if it is new.
std::string mark(const std::string& source, std::vector<std::string>& sources) {
  const auto known = std::find(sources.begin(), sources.end(), source);
  const auto place = known - sources.begin();
  if (known == sources.end()) {
    sources.push_back(source);
  }
  return fmt::format("[{}]", place + 1);
}

}  // namespace

std::string explain_energy_text(const Problem& problem, const Cost& cost) {
  std::vector<Row> rows{{"", "", "action", "count", "width", "each", "energy", "source"}};
  std::vector<std::string> sources;
  for (const EnergyTerm& term : explain_energy(problem, cost)) {
    const bool per_bit = term.width > Bits{0};
    rows.push_back({term.node, term.tensor ? problem.workload().tensors[*term.tensor].name : "",
                    term.action, count_text(term.count),
                    per_bit ? fmt::format("{} b", term.width.count()) : "",
                    fmt::format("{:.6g} {}", term.per_unit, per_bit ? "pJ/b" : "pJ"),
                    energy_text(term.energy), mark(term.source, sources)});
  }
  std::string text = "where the energy goes, count x width x each:\n" + table(rows);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text += fmt::format("  [{}] {}\n", i + 1,
                        sources[i].empty() ? "the architecture file" : sources[i]);
  }
  return text;
}

}  // namespace mapsim
