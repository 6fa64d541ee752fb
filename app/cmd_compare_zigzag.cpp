// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/import.hpp"
#include "app/startable_threads.hpp"
#include "app/watch.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/zigzag.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/mapspace/membership.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/names.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace mapsim {

namespace {

constexpr std::array kObjectivesCompared{Objective::kEnergy, Objective::kLatency, Objective::kEdp};
constexpr std::array kFigureNames{"energy", "latency", "EDP"};

std::string figure_text(std::size_t which, double value) {
  return which == 0   ? energy_text(Picojoules{value})
         : which == 1 ? grouped(std::llround(value)) + " cycles"
                      : fmt::format("{:.4g} pJ*cycles", value);
}

// The layer, of exactly one result.
ZigzagImport::Layer found_layer(ZigzagImport& import) {
  std::vector<ZigzagImport::Layer> found;
  for (ZigzagImport::Layer& layer : import.layers) {
    if (layer.found) {
      found.push_back(std::move(layer));
    }
  }
  if (found.size() != 1) {
    throw UsageError(fmt::format(
        "compare zigzag needs an accelerator (YAML) and one layer that ZigZag has mapped "
        "(NAME_complete.json), not {}{}",
        found.size(), import.notes.empty() ? "" : "; " + joined(import.notes, "; ")));
  }
  return std::move(found.front());
}

// The space of the same unrolling; with partial tiles where the mapping has some.
Constraints space_of(const Problem& problem, const ZigzagImport::Layer& layer) {
  Constraints constraints = parse_constraints(layer.constraints, layer.name, problem);
  constraints.factors.imperfect =
      !first_breach(Mapspace{problem, constraints}, layer.found->mapping).empty();
  return constraints;
}

std::string optimum_table(const ComparisonRecord& record) {
  std::vector<Row> rows{
      {"", "ZigZag says", "its mapping here", "optimum here", "mapping / optimum"}};
  for (std::size_t i = 0; i < record.figures.size(); ++i) {
    const ComparisonRecord::Figure& each = record.figures[i];
    Row row{each.figure, figure_text(i, each.theirs),
            each.ours ? figure_text(i, *each.ours) : "does not fit"};
    if (each.best) {
      const bool proven = !each.lower_bound || *each.lower_bound >= *each.best;
      row.push_back(figure_text(i, *each.best) + (proven ? "" : ", not proven"));
      row.push_back(each.ours ? fmt::format("{:.3f}", *each.ours / *each.best) : "-");
    }
    rows.push_back(std::move(row));
  }
  return table(rows);
}

}  // namespace

Answer compare_zigzag(const CompareArguments& arguments) {
  ZigzagImport import = read_zigzag(arguments.files, {});
  const ZigzagImport::Layer layer = found_layer(import);
  const Problem problem{layer.arch, layer.workload};
  const Evaluation evaluation = evaluate(problem, layer.found->mapping);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  const Mapspace space{problem, space_of(problem, layer)};
  SearchOptions options;
  options.budget = arguments.budget;
  options.threads = threads_to_use(arguments.threads);
  Watch watch;
  options.stop = &watch.stop();
  ComparisonRecord record;
  record.tool = "zigzag";
  for (std::size_t i = 0; i < kFigureNames.size(); ++i) {
    options.objective = kObjectivesCompared[i];
    const SearchResult best = search_exact(space, options);
    ComparisonRecord::Figure figure;
    figure.figure = kFigureNames[i];
    figure.where = "total";
    figure.theirs =
        options.objective.function.value(layer.found->energy.count(), layer.found->cycles);
    if (cost != nullptr) {
      figure.ours = objective_value(options.objective, *cost);
    }
    if (best.cost) {
      figure.best = objective_value(options.objective, *best.cost);
      figure.lower_bound = best.certificate.lower_bound;
    }
    record.figures.push_back(std::move(figure));
  }
  const ExitCode code = watch.stop() ? kInterrupted : cost != nullptr ? kDone : kNegative;
  if (arguments.output.json) {
    Provenance origin{"compare", input_files("design", arguments.files), import.notes};
    return {code, comparison_json(origin, problem, layer.found->mapping, record)};
  }
  std::string text = title_text(problem.arch(), problem.workload()) + '\n' + optimum_table(record);
  if (cost == nullptr) {
    text += fmt::format("  does not fit: {}\n",
                        infeasible_text(problem.arch(), std::get<Infeasible>(evaluation)));
  }
  for (const std::string& note : import.notes) {
    text += fmt::format("note: {}\n", printable(note));
  }
  return {code, text};
}

}  // namespace mapsim
