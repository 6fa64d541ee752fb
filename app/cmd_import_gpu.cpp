// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>

#include "app/files.hpp"
#include "app/import.hpp"
#include "arch/gpu_words.hpp"
#include "core/diagnostic.hpp"
#include "core/text_stream.hpp"
#include "interop/gpu_table.hpp"
#include "report/json.hpp"
#include "validate/measurements.hpp"
#include "validate/observations.hpp"

namespace mapsim {

namespace {

// "4096x4096x4096".
std::optional<GemmTile> problem_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  GemmTile extents;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::int64_t* extent : {&extents.m, &extents.n, &extents.k}) {
    const auto [stop, problem] = std::from_chars(at, end, *extent);
    const bool is_last = extent == &extents.k;
    if (problem != std::errc{} || *extent < 1 ||
        (is_last ? stop != end : stop == end || *stop != 'x')) {
      throw UsageError(
          fmt::format("--problem: {} is not MxNxK, as in 4096x4096x1024", quoted(text)));
    }
    at = stop + 1;
  }
  return extents;
}

std::set<std::string> distinct_lines(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream = stream_of(text);
  for (std::string line; std::getline(stream, line);) {
    lines.insert(line);
  }
  return lines;
}

}  // namespace

GpuTableContext table_context(const std::string& path, const std::string& gpu,
                              const std::string& precision, const std::string& problem,
                              const std::string& cache) {
  GpuTableContext context{gpu, precision_named(precision), problem_of(problem),
                          std::filesystem::path{path}.filename().string()};
  if (!cache.empty()) {
    context.hot = cache == "hot";
  }
  return context;
}

Answer import_gpu_tables(const ImportArguments& arguments) {
  const std::string& target = arguments.folder;
  std::string text = measurements_header();
  if (std::filesystem::exists(target)) {
    text = with_all_columns(read_text(target), target);  // rows are only added to what can be read
  }
  OutputFile file{target};
  const std::set<std::string> before = distinct_lines(text);
  std::string answer;
  ImportRecord record{{target}, {}};
  for (const std::string& path : arguments.files) {
    refuse_same_file(target, path);
    const GpuTableImport imported =
        import_gpu_table(read_text(path), path,
                         table_context(path, arguments.gpu, arguments.precision, arguments.problem,
                                       arguments.cache));
    std::int64_t again = 0;
    for (const GpuMeasurement& measurement : imported.measurements) {
      const std::string row = measurement_rows({measurement});
      if (before.contains(row.substr(0, row.size() - 1))) {
        ++again;
      } else {
        text += row;
      }
    }
    const std::int64_t added = std::ssize(imported.measurements) - again;
    record.tables.push_back({path, imported.kind, added, again});
    std::vector<std::string> notes;
    if (again > 0) {
      notes.push_back(
          fmt::format("{} measurements were there already and are not added again", again));
    }
    const auto unsaid =
        std::count_if(imported.measurements.begin(), imported.measurements.end(),
                      [](const GpuMeasurement& m) { return !m.cold && !timing_of(m).hot; });
    if (unsaid > 0) {
      notes.push_back(fmt::format(
          "{} measurements do not say whether the L2 cache held the operands; calibrate and "
          "predict tell by the times, or --cache says it",
          unsaid));
    }
    notes.insert(notes.end(), imported.notes.begin(), imported.notes.end());
    answer += fmt::format("{}: {} measurements ({} table) added to {}\n", path, added,
                          imported.kind, target);
    for (const std::string& note : notes) {
      answer += fmt::format("note: {}\n", printable(note));
      record.notes.push_back(note);
    }
  }
  file.write(text);
  return {kDone, arguments.output.json
                     ? import_json({"import", input_files("file", arguments.files)}, record)
                     : answer};
}

}  // namespace mapsim
