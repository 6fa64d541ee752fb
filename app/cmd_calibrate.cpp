// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/measurement_file.hpp"
#include "arch/gpu_load.hpp"
#include "arch/gpu_print.hpp"
#include "core/diagnostic.hpp"
#include "core/text_stream.hpp"
#include "costmodel/gpu/library.hpp"
#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "report/table.hpp"
#include "validate/calibrate.hpp"
#include "validate/calibration_json.hpp"
#include "validate/measurements.hpp"

namespace mapsim {

namespace {

std::string trust_text(const GroupCalibration& group) {
  std::string text = fmt::format(
      "\n  error: within a factor of {:.2f}; taken from the other folds it covers {:.1f} % of "
      "held-out times\n",
      std::exp(group.fitted.error), 100 * group.covered);
  if (group.reached > 0) {
    text += fmt::format("  the best reach {:.0f} % of what the figures of the file allow\n",
                        100 * group.reached);
  }
  return text +
         (group.resolution_fitted
              ? fmt::format("  resolution: from {:.1f} % apart on nine of ten pairs are in order\n",
                            100 * group.fitted.resolution)
              : fmt::format("  resolution: {:.1f} %, the default: too few pairs of kernels\n",
                            100 * group.fitted.resolution));
}

std::string scores_text(const GroupCalibration& group) {
  std::vector<Row> rows{
      {"held out", "MAPE", "95 %", "median", "90th", "bias", "tau", "top-1", "top-5"}};
  for (const CalibrationScore& score : group.scores) {
    Row row{score.name};
    if (score.errors) {
      const ErrorMetrics& e = *score.errors;
      row.insert(row.end(), {percent_to_hundredths(e.mape),
                             fmt::format("{:.1f}-{:.1f}", 100 * e.mape_low, 100 * e.mape_high),
                             percent_to_hundredths(e.median), percent_to_hundredths(e.ninetieth),
                             fmt::format("{:+.2f} %", 100 * e.bias)});
    } else {
      row.insert(row.end(), 5, "-");
    }
    if (score.ranks.problems > 0) {
      row.insert(row.end(),
                 {fmt::format("{:.3f}", score.ranks.tau), fmt::format("{:.4f}", score.ranks.top1),
                  fmt::format("{:.4f}", score.ranks.top5)});
    }
    rows.push_back(std::move(row));
  }
  std::string text = table(rows);
  std::vector<Row> decades{{"measured time", "rows", "MAPE", "bias", "covered"}};
  for (std::size_t i = 0; i < group.decades.size(); ++i) {
    const ErrorMetrics& e = group.by_decade[i];
    decades.push_back({fmt::format("{:g} to {:g} s", group.decades[i], 10 * group.decades[i]),
                       fmt::format("{}", e.count), percent_to_hundredths(e.mape),
                       fmt::format("{:+.2f} %", 100 * e.bias),
                       fmt::format("{:.0f} %", 100 * group.covered_by_decade[i])});
  }
  return fmt::format("{}\n{}{}", text, table(decades), trust_text(group));
}

std::string parameters_text(const GroupCalibration& group) {
  std::vector<Row> rows{{"parameter", "before", "fitted", "relative error", ""}};
  for (const CalibratedParameter& parameter : group.parameters) {
    const FittedParameter& fitted = parameter.fitted;
    rows.push_back({parameter.name, fmt::format("{:.4g}", parameter.before),
                    fmt::format("{:.4g}", fitted.value),
                    fmt::format("{:.2g}", fitted.relative_error),
                    fitted.fixed         ? "not determined: left"
                    : fitted.at_bound    ? "at its bound"
                    : !fitted.determined ? "together with others"
                                         : ""});
  }
  return table(rows);
}

std::string group_text(const GroupCalibration& group) {
  std::string text = fmt::format("{}, {}: {} rows of {} problems\n", to_string(group.precision),
                                 group.path ? to_string(*group.path) : "kernels of a library",
                                 group.rows, group.problems);
  if (group.left_out > 0) {
    text += fmt::format("  left out {} rows of kernels that cannot run; the first: {}\n",
                        group.left_out, group.first_left_out);
  }
  if (group.by_kernel) {
    text +=
        "  too few problems to hold any out: kernels are held out instead, so the error on other "
        "problems is unknown\n";
  }
  if (!group.scores.empty()) {
    text += fmt::format("\n{}\n{}", scores_text(group), parameters_text(group));
  }
  for (const std::string& warning : group.warnings) {
    text += fmt::format("  warning: {}\n", warning);
  }
  if (group.refusal) {
    text += fmt::format("  refused: {}\n", *group.refusal);
  }
  return text + "\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream = stream_of(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

// What its reader should know of a block, as comments above it.
std::string comment_of(const GroupCalibration& group) {
  std::string left;
  std::string together;
  for (const CalibratedParameter& parameter : group.parameters) {
    if (!parameter.fitted.fixed && !parameter.fitted.determined && !parameter.fitted.at_bound) {
      together += (together.empty() ? "" : ", ") + parameter.name;
    }
    if (parameter.fitted.fixed) {
      left += (left.empty() ? "" : ", ") + parameter.name;
    }
  }
  std::string text = fmt::format(
      "    # {} rows of {} problems; held out: MAPE {:.1f} %, {:.0f} % within `error`\n",
      group.rows, group.problems, 100 * group.scores[0].errors->mape, 100 * group.covered);
  if (!left.empty()) {
    text += fmt::format("    # not determined, left uncalibrated: {}\n", left);
  }
  if (!together.empty()) {
    text += fmt::format("    # determined only together: {}\n", together);
  }
  if (!group.resolution_fitted) {
    text += "    # resolution: the default\n";
  }
  if (group.by_kernel) {
    text += "    # kernels were held out, not problems\n";
  }
  for (const std::string& warning : group.warnings) {
    if (warning.starts_with("spec suspicious") || warning.starts_with("good for times only")) {
      text += fmt::format("    # {}\n", warning);
    }
  }
  return text;
}

// The file as its author wrote it, with another `calibration:` list under `gpu:`, where one was or
// at the end. What it says of being calibrated or not goes. Read back to be sure.
std::string with_calibration(const std::string& original, const std::string& path, const Gpu& gpu,
                             const std::vector<GroupCalibration>& groups) {
  std::string kept;
  bool inside = false;   // the list
  bool is_said = false;  // in its head: that, or by what, it is calibrated
  for (const std::string& line : lines_of(original)) {
    is_said = line.starts_with("# Uncalibrated: no `calibration:` block") ||
              line.starts_with("# Calibrated by ") || (is_said && line.starts_with("#   "));
    const std::size_t indent = line.find_first_not_of(' ');
    const bool is_key =
        indent != std::string::npos && indent <= 2 && line[indent] != '#' && line[indent] != '-';
    if (line.starts_with("  calibration:")) {
      inside = true;
    } else if (is_key) {
      inside = false;
    }
    if (!inside && !is_said) {
      kept += line + "\n";
    }
  }
  kept += "  calibration:  # by mapsim calibrate; docs/gpu_calibration.md\n";
  for (const GpuCalibration& calibration : gpu.calibrations) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const GroupCalibration& g) {
      return g.fitted == calibration;
    });
    if (group != groups.end()) {
      kept += comment_of(*group);
    } else if (!calibration.precision && !calibration.path) {
      kept += "    # whatever was not measured: launches take as long on every path\n";
    }
    kept += print_calibration(calibration, 4);
  }
  bool is_same = false;
  try {
    is_same = parse_gpu(kept, path) == gpu;
  } catch (const ConfigError&) {
  }
  if (!is_same) {
    throw UsageError(fmt::format(
        "{}: cannot put a calibration into it: `gpu:` must be its last key, indented by "
        "two blanks",
        path));
  }
  return kept;
}

// In place of the block of the same precision and path.
void replace(Gpu& gpu, const GpuCalibration& block) {
  std::erase_if(gpu.calibrations, [&](const GpuCalibration& old) {
    return old.precision == block.precision && old.path == block.path;
  });
  gpu.calibrations.push_back(block);
}

}  // namespace

Answer run(const CalibrateArguments& arguments) {
  Gpu gpu = load_gpu(arguments.arch);
  std::vector<GpuMeasurement> rows =
      measurements_of(arguments.measurements, arguments.gpu.empty() ? gpu.name : arguments.gpu);
  const CacheEvidence cache = infer_cache(gpu, rows);
  OutputFile file{arguments.calibrated};
  CalibrationOptions options;
  options.folds = arguments.folds;
  options.fit_rows = arguments.fit_rows;
  options.seed = static_cast<std::uint64_t>(arguments.seed);
  options.source = std::filesystem::path{arguments.measurements}.filename().string();
  options.library = library_kernels;
  const std::vector<GroupCalibration> groups = calibrate(gpu, rows, options);
  std::string text = fmt::format("{} on {} measurements of {}\n{}\n", gpu.name, rows.size(),
                                 rows.front().gpu, cache_text(cache));
  std::int64_t accepted = 0;
  for (const GroupCalibration& group : groups) {
    text += group_text(group);
    if (!group.refusal) {
      ++accepted;
      replace(gpu, group.fitted);
    }
  }
  if (const std::optional<Seconds> launch = common_launch(groups)) {
    GpuCalibration others;
    others.launch = *launch;
    replace(gpu, others);
    text += fmt::format("launch of what was not measured: {:.3g} us\n", launch->count() * 1e6);
  }
  if (accepted > 0 && !arguments.calibrated.empty()) {
    file.write(with_calibration(read_text(arguments.arch), arguments.arch, gpu, groups));
    text += fmt::format("wrote {}\n", arguments.calibrated);
  }
  if (arguments.output.json) {
    const Provenance origin{
        "calibrate",
        {input_file("arch", arguments.arch), input_file("measurements", arguments.measurements)}};
    text = calibration_json(provenance_text(origin), gpu, cache, groups);
  }
  return {accepted > 0 ? kDone : kNegative, text};
}

}  // namespace mapsim
