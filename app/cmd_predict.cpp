// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/import.hpp"
#include "app/measurement_file.hpp"
#include "arch/gpu_load.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/gpu/library.hpp"
#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "report/json_calibration.hpp"
#include "report/table.hpp"
#include "validate/measurements.hpp"
#include "validate/predictions.hpp"

namespace mapsim {
namespace {

Row score_row(const PredictionScore& score) {
  const ErrorMetrics& e = score.errors;
  Row row{score.name,
          fmt::format("{}", e.count),
          percent_to_hundredths(e.mape),
          percent_to_hundredths(e.median),
          percent_to_hundredths(e.ninetieth),
          fmt::format("{:+.2f} %", 100 * e.bias),
          fmt::format("{:.1f} %", 100 * score.covered)};
  if (score.ranks.problems > 0) {
    row.insert(row.end(),
               {fmt::format("{:.3f}", score.ranks.tau), fmt::format("{:.4f}", score.ranks.top1),
                fmt::format("{:.4f}", score.ranks.top5)});
  }
  return row;
}

// A single problem has no others on which a fixed kernel could be chosen.
std::string blind_text(const BlindRanks& blind) {
  if (blind.random.problems == 0) {
    return "";
  }
  std::string text = fmt::format("  top-1 of a kernel drawn by chance: {:.4f}", blind.random.top1);
  if (blind.random.problems > 1) {
    text +=
        fmt::format("; of the kernel that is best on the other problems: {:.4f}", blind.fixed.top1);
  }
  return text + "\n";
}

std::string group_text(const PredictedGroup& group) {
  std::string text = fmt::format(
      "{}: {} rows of {} problems\n  {}: 9 of 10 times are expected within a factor of {:.2f}\n",
      group.name, group.kernels.size(), group.problems,
      calibration_source(group.calibration, group.precision), std::exp(group.calibration.error));
  if (group.left_out > 0) {
    text += fmt::format("  left out {} rows of kernels that cannot run; the first: {}\n",
                        group.left_out, group.first_left_out);
  }
  std::vector<Row> rows{
      {"shapes", "rows", "MAPE", "median", "90th", "bias", "covered", "tau", "top-1", "top-5"}};
  for (const PredictionScore& score : group.classes) {
    rows.push_back(score_row(score));
  }
  rows.push_back(score_row(group.all));
  return text + '\n' + table(rows) + blind_text(group.blind) + '\n';
}

std::string together_text(const PathRanks& ranks) {
  return fmt::format(
      "{}, kernels of all paths: {} rows of {} problems\n  tau {:.3f}, top-1 {:.4f}, top-5 "
      "{:.4f}\n{}\n",
      to_string(ranks.precision), ranks.kernels, ranks.ranks.problems, ranks.ranks.tau,
      ranks.ranks.top1, ranks.ranks.top5, blind_text(ranks.blind));
}

// The rows of this GPU; of a table of a single one, all.
std::vector<GpuMeasurement> rows_of(const PredictArguments& arguments, const Gpu& gpu,
                                    std::vector<std::string>& notes) {
  const std::string text = read_text(arguments.table);
  const std::string name = arguments.gpu.empty() ? gpu.name : arguments.gpu;
  std::vector<GpuMeasurement> rows;
  if (text.starts_with("# mapsim measurements")) {
    rows = parse_measurements(text, arguments.table);
  } else {
    GpuTableImport imported =
        import_gpu_table(text, arguments.table,
                         table_context(arguments.table, name, arguments.precision,
                                       arguments.problem, arguments.cache));
    rows = std::move(imported.measurements);
    notes = std::move(imported.notes);
  }
  const bool is_of_one = std::all_of(rows.begin(), rows.end(), [&](const GpuMeasurement& row) {
    return row.gpu == rows.front().gpu;
  });
  if (!arguments.gpu.empty() || !is_of_one || rows.empty()) {
    return rows_of_gpu(std::move(rows), arguments.table, name);
  }
  if (std::holds_alternative<std::string>(rows_of_gpu(rows, gpu.name))) {
    notes.push_back(fmt::format("all rows are of {}, but the predicted times are those of {}",
                                quoted(std::as_const(rows.front().gpu)), quoted(gpu.name)));
  }
  return rows;
}

}  // namespace

Answer run(const PredictArguments& arguments) {
  const Gpu gpu = load_gpu(arguments.arch);
  std::vector<std::string> notes;
  std::vector<GpuMeasurement> rows = rows_of(arguments, gpu, notes);
  const CacheEvidence cache = infer_cache(gpu, rows);
  const MeasuredPredictions predictions = predict_measurements(gpu, rows, library_kernels);
  if (predictions.groups.empty()) {
    return {kNegative, fmt::format("{}: the model of {} can predict none of the {} measurements\n",
                                   arguments.table, gpu.name, rows.size())};
  }
  if (arguments.output.json) {
    const Provenance origin{
        "predict", {input_file("arch", arguments.arch), input_file("table", arguments.table)}};
    return {kDone, predictions_json(provenance_text(origin), gpu, cache, predictions)};
  }
  std::string text = fmt::format("{} on {} measurements of {}; nothing is fitted\n{}", gpu.name,
                                 rows.size(), rows.front().gpu, cache_text(cache));
  for (const std::string& note : notes) {
    text += fmt::format("note: {}\n", printable(note));
  }
  text += '\n';
  for (const PredictedGroup& group : predictions.groups) {
    text += group_text(group);
  }
  for (const PathRanks& ranks : predictions.together) {
    text += together_text(ranks);
  }
  return {kDone, text};
}

}  // namespace mapsim
