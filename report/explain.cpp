// SPDX-License-Identifier: Apache-2.0
#include "costmodel/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "report/figures.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace mapsim {

namespace {

constexpr std::ptrdiff_t kDensityColumn = 5;  // where some tensor is not dense

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
  const std::vector<EnergyTerm> terms = explain_energy(problem, cost);
  const bool sparse = std::any_of(terms.begin(), terms.end(),
                                  [](const EnergyTerm& term) { return term.density != 1; });
  std::vector<Row> rows{{"", "", "action", "count", "width", "each", "energy", "source"}};
  std::vector<std::string> sources;
  for (const EnergyTerm& term : terms) {
    const bool per_bit = term.width > Bits{0};
    rows.push_back({term.node, term.tensor ? problem.workload().tensors[*term.tensor].name : "",
                    term.action, count_text(term.count),
                    per_bit ? fmt::format("{} b", term.width.count()) : "",
                    fmt::format("{:.6g} {}", term.per_unit, per_bit ? "pJ/b" : "pJ"),
                    energy_text(term.energy), mark(term.source, sources)});
    if (sparse) {
      rows.back().insert(rows.back().begin() + kDensityColumn, ratio(term.density));
    }
  }
  if (sparse) {
    rows.front().insert(rows.front().begin() + kDensityColumn, "density");
  }
  std::string text = fmt::format("where the energy goes, count x width x {}each:\n{}",
                                 sparse ? "density x " : "", table(rows));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    text += fmt::format("  [{}] {}\n", i + 1,
                        sources[i].empty() ? "the architecture file" : sources[i]);
  }
  return text;
}

}  // namespace mapsim
