// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "arch/gpu_words.hpp"
#include "core/csv.hpp"
#include "core/diagnostic.hpp"
#include "core/reader.hpp"

namespace mapsim {
namespace {

constexpr std::string_view kVersion = " mapsim measurements 1";
constexpr std::int64_t kMostExtent = std::int64_t{1} << 31;

const Words& columns() {
  static const Words kColumns{"gpu",
                              "driver",
                              "sm_clock_mhz",
                              "memory_clock_mhz",
                              "precision",
                              "m",
                              "n",
                              "k",
                              "batch",
                              "output_bytes",
                              "a",
                              "b",
                              "path",
                              "block_m",
                              "block_n",
                              "block_k",
                              "warp_m",
                              "warp_n",
                              "frag_m",
                              "frag_n",
                              "frag_k",
                              "stages",
                              "split_k",
                              "raster",
                              "cluster",
                              "padding",
                              "registers",
                              "spilled",
                              "shared_bytes",
                              "time_s",
                              "time_q1_s",
                              "time_q3_s",
                              "runs",
                              "origin",
                              "time_min_s",
                              "naive",
                              "cache",
                              "convolution",
                              "stored_a",
                              "run_a",
                              "run_b",
                              "throttle",
                              "power_w",
                              "host_bound",
                              "vector_m",
                              "vector_n",
                              "loaders_m",
                              "loaders_n"};
  return kColumns;
}

const Words& paths() {
  static const Words kWords{to_string(GpuPath::kWmma), to_string(GpuPath::kMma),
                            to_string(GpuPath::kWgmma), to_string(GpuPath::kSimt)};
  return kWords;
}
const Words kLayouts{"row", "column"};
const Words kCaches{"hot", "cold"};  // empty: not said

// One row, column by column.
class RowReader {
 public:
  RowReader(CsvReader& reader, const CsvRow& row) : reader_{&reader}, row_{&row} {}

  std::string text(std::string_view column) const {
    return reader_->text(*row_, reader_->find(column));
  }
  std::int64_t extent(std::string_view column) {
    return need(column, reader_->integer(*row_, reader_->find(column), 1, kMostExtent),
                std::int64_t{1});
  }
  std::optional<std::int64_t> count(std::string_view column) {
    return reader_->integer(*row_, reader_->find(column), 0, kMaxInteger);
  }
  std::optional<std::int64_t> some(std::string_view column) {
    return reader_->integer(*row_, reader_->find(column), 1, kMaxInteger);
  }
  double not_negative(std::string_view column) {
    return reader_->not_negative(*row_, reader_->find(column)).value_or(0);
  }
  double positive(std::string_view column) {
    return need(column, reader_->positive(*row_, reader_->find(column)), 1.0);
  }
  std::optional<std::size_t> choice(std::string_view column, const Words& words) {
    return reader_->choice(*row_, reader_->find(column), words);
  }
  std::size_t chosen(std::string_view column, const Words& words) {
    return need(column, choice(column, words), std::size_t{0});
  }
  void error(std::string_view column, const std::string& message) {
    reader_->error(*row_, reader_->find(column), message);
  }

 private:
  template <class T>
  T need(std::string_view column, std::optional<T> value, T otherwise) {
    return reader_->need(*row_, reader_->find(column), value, otherwise);
  }
  CsvReader* reader_;
  const CsvRow* row_;
};

GemmProblem read_problem(RowReader& row) {
  GemmProblem problem;
  problem.m = row.extent("m");
  problem.n = row.extent("n");
  problem.k = row.extent("k");
  problem.batch = row.extent("batch");
  problem.precision = static_cast<GpuPrecision>(row.chosen("precision", precision_names()));
  problem.output = Bytes{row.extent("output_bytes")};
  problem.a = static_cast<MatrixLayout>(row.chosen("a", kLayouts));
  problem.b = static_cast<MatrixLayout>(row.chosen("b", kLayouts));
  problem.stored_a = row.some("stored_a");
  problem.run_a = row.some("run_a");
  problem.run_b = row.some("run_b");
  return problem;
}

std::optional<KernelChoice> read_kernel(RowReader& row) {
  const std::optional<std::size_t> path = row.choice("path", paths());
  if (!path) {
    return std::nullopt;
  }
  KernelChoice kernel;
  kernel.path = static_cast<GpuPath>(*path);
  kernel.block = {row.extent("block_m"), row.extent("block_n"), row.extent("block_k")};
  kernel.warp = {row.extent("warp_m"), row.extent("warp_n"), kernel.block.k};
  kernel.fragment = {row.extent("frag_m"), row.extent("frag_n"), row.extent("frag_k")};
  kernel.stages = row.extent("stages");
  kernel.split_k = row.extent("split_k");
  kernel.raster = row.count("raster").value_or(0);
  kernel.cluster = std::max<std::int64_t>(row.count("cluster").value_or(1), 1);
  kernel.padding = row.count("padding").value_or(0);
  kernel.simt = {row.count("vector_m").value_or(0), row.count("vector_n").value_or(0),
                 row.count("loaders_m").value_or(0), row.count("loaders_n").value_or(0)};
  kernel.registers = row.count("registers");
  kernel.spilled_bytes = row.count("spilled");
  if (kernel.block.m % kernel.warp.m != 0 || kernel.block.n % kernel.warp.n != 0) {
    row.error("warp_m", "the block is not a whole number of warp tiles");
  }
  return kernel;
}

GpuMeasurement read_row(RowReader row) {
  GpuMeasurement result;
  result.gpu = row.text("gpu");
  if (result.gpu.empty()) {
    row.error("gpu", "a value is missing");
  }
  result.driver = row.text("driver");
  result.clock = Hertz{row.not_negative("sm_clock_mhz") * 1e6};
  result.memory_clock = Hertz{row.not_negative("memory_clock_mhz") * 1e6};
  result.problem = read_problem(row);
  result.kernel = read_kernel(row);
  result.shared = Bytes{row.count("shared_bytes").value_or(0)};
  result.median = Seconds{row.positive("time_s")};
  result.first_quartile = Seconds{row.not_negative("time_q1_s")};
  result.third_quartile = Seconds{row.not_negative("time_q3_s")};
  if (result.third_quartile < result.first_quartile) {
    row.error("time_q3_s", "the third quartile is below the first");
  }
  result.runs = row.count("runs").value_or(0);
  result.origin = row.text("origin");
  result.least = Seconds{row.not_negative("time_min_s")};
  result.naive = row.count("naive").value_or(0) > 0;
  const auto cache = row.choice("cache", kCaches);
  result.cold = cache && *cache == 1;
  result.hot = cache && *cache == 0;
  result.convolution = row.text("convolution");
  result.throttle = row.text("throttle");
  result.watts = row.not_negative("power_w");
  result.host_bound = row.count("host_bound").value_or(0) > 0;
  return result;
}

// The columns that any row needs, and those that a row with a path needs, too.
void require_columns(CsvReader& reader, const CsvTable& table) {
  for (const std::string_view column :
       {"gpu", "precision", "m", "n", "k", "batch", "output_bytes", "a", "b", "path", "time_s"}) {
    reader.require({column});
  }
  const CsvReader::Column path = reader.find("path");
  if (std::none_of(table.rows.begin(), table.rows.end(),
                   [&](const CsvRow& row) { return !reader.text(row, path).empty(); })) {
    return;
  }
  for (const std::string_view column : {"block_m", "block_n", "block_k", "warp_m", "warp_n",
                                        "frag_m", "frag_n", "frag_k", "stages", "split_k"}) {
    if (!reader.find(column)) {
      reader.error(
          table.header, std::nullopt,
          fmt::format("no column {}, which rows with a path need", quoted(std::string{column})));
    }
  }
}

// A number that reads back to the same one, "" for zero.
std::string known_text(double value) { return value == 0 ? "" : fmt::format("{}", value); }
std::string known_text(std::int64_t value) { return value == 0 ? "" : fmt::format("{}", value); }
std::string known_text(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::vector<std::string> kernel_cells(const std::optional<KernelChoice>& kernel) {
  if (!kernel) {
    return std::vector<std::string>(16);
  }
  const KernelChoice& k = *kernel;
  std::vector<std::string> cells{to_string(k.path)};
  for (const std::int64_t value :
       {k.block.m, k.block.n, k.block.k, k.warp.m, k.warp.n, k.fragment.m, k.fragment.n,
        k.fragment.k, k.stages, k.split_k, k.raster, k.cluster, k.padding}) {
    cells.push_back(fmt::format("{}", value));
  }
  cells.push_back(known_text(k.registers));
  cells.push_back(known_text(k.spilled_bytes));
  return cells;
}

std::string row_text(const GpuMeasurement& m) {
  const GemmProblem& p = m.problem;
  std::string text =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", csv_cell(m.gpu), csv_cell(m.driver),
                  known_text(m.clock.count() / 1e6), known_text(m.memory_clock.count() / 1e6),
                  to_string(p.precision), p.m, p.n, p.k, p.batch, p.output.count(),
                  kLayouts[static_cast<std::size_t>(p.a)], kLayouts[static_cast<std::size_t>(p.b)]);
  for (const std::string& cell : kernel_cells(m.kernel)) {
    text += ',';
    text += cell;
  }
  text += fmt::format(",{},{},{},{},{},{}", known_text(m.shared.count()),
                      known_text(m.median.count()), known_text(m.first_quartile.count()),
                      known_text(m.third_quartile.count()), known_text(m.runs), csv_cell(m.origin));
  const std::string cache = m.cold ? "cold" : m.hot ? "hot" : "";
  text += fmt::format(",{},{},{},{},{},{},{},{},{},{}", known_text(m.least.count()),
                      m.naive ? "1" : "", cache, csv_cell(m.convolution), known_text(p.stored_a),
                      known_text(p.run_a), known_text(p.run_b), csv_cell(m.throttle),
                      known_text(m.watts), m.host_bound ? "1" : "");
  const SimtAccess simt = m.kernel ? m.kernel->simt : SimtAccess{};
  return text + fmt::format(",{},{},{},{}\n", known_text(simt.vector_m), known_text(simt.vector_n),
                            known_text(simt.loaders_m), known_text(simt.loaders_n));
}

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) {
      plain += static_cast<char>(std::tolower(c));
    }
  }
  return plain;
}

}  // namespace

std::vector<GpuMeasurement> parse_measurements(const std::string& text,
                                               const std::string& filename) {
  const CsvTable table = parse_csv(text, filename);
  if (table.comments.empty() || table.comments.front() != kVersion) {
    throw ConfigError{{{filename, 1, 1, "",
                        fmt::format("not a measurements file: the first line must be '#{}'; "
                                    "tables of others come in by 'mapsim import gpu-table'",
                                    kVersion),
                        table.lines.front()}}};
  }
  CsvReader reader{table};
  reader.refuse_others(columns());
  require_columns(reader, table);
  reader.finish();
  std::vector<GpuMeasurement> result;
  for (const CsvRow& row : table.rows) {
    result.push_back(read_row({reader, row}));
  }
  reader.finish();
  return result;
}

std::string measurements_header() {
  std::string names;
  for (const std::string& column : columns()) {
    names += names.empty() ? "" : ",";
    names += column;
  }
  return fmt::format("#{}\n{}\n", kVersion, names);
}

std::string with_all_columns(const std::string& text, const std::string& filename) {
  const std::vector<GpuMeasurement> rows = parse_measurements(text, filename);
  const CsvTable table = parse_csv(text, filename);
  Words names;
  for (const CsvCell& cell : table.header.cells) {
    names.push_back(cell.text);
  }
  if (names == columns()) {
    return text.ends_with('\n') ? text : text + '\n';
  }
  return measurements_header() + measurement_rows(rows);
}

Parsed<std::vector<GpuMeasurement>> rows_of_gpu(std::vector<GpuMeasurement> all,
                                                const std::string& gpu) {
  const std::string wanted = plain_name(gpu);
  std::vector<GpuMeasurement> rows;
  std::set<std::string> others;
  for (GpuMeasurement& row : all) {
    if (plain_name(row.gpu) == wanted) {
      rows.push_back(std::move(row));
    } else {
      others.insert(quoted(std::as_const(row.gpu)));
    }
  }
  if (rows.empty()) {
    return fmt::format("no measurements of {}; there are those of {}", quoted(gpu),
                       others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", ")));
  }
  return rows;
}

std::string measured_what(const GpuMeasurement& m) {
  const GemmProblem& p = m.problem;
  std::string text =
      fmt::format("{} {} {}x{}x{} batch {} out {} {} {}", m.gpu, to_string(p.precision), p.m, p.n,
                  p.k, p.batch, p.output.count(), kLayouts[static_cast<std::size_t>(p.a)],
                  kLayouts[static_cast<std::size_t>(p.b)]);
  for (const auto& [name, run] : {std::pair{"run_a", p.run_a}, std::pair{"run_b", p.run_b}}) {
    text += run ? fmt::format(" {} {}", name, *run) : "";
  }
  text += m.convolution.empty() ? "" : fmt::format(" [{}]", m.convolution);
  text += m.cold ? " cold " : " hot ";
  return text + (!m.kernel ? "library" : m.naive ? "naive" : to_string(*m.kernel));
}

std::string measurement_rows(const std::vector<GpuMeasurement>& measurements) {
  std::string text;
  for (const GpuMeasurement& measurement : measurements) {
    text += row_text(measurement);
  }
  return text;
}

}  // namespace mapsim
