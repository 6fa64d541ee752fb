// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/reader.hpp"
#include "interop/gpu_table_row.hpp"

namespace mapsim {

namespace {
// Of extents and counts: grids and threads multiply two of them.
constexpr std::int64_t kMost = std::int64_t{1} << 31;
}  // namespace

bool equal_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string GpuTableReader::any(const std::vector<std::string_view>& names) const {
  for (const std::string_view name : names) {
    for (const CsvCell& cell : table_->header.cells) {
      if (equal_but_for_case(cell.text, name)) {
        return cell.text;
      }
    }
  }
  return "";
}

std::int64_t GpuTableReader::extent(const CsvRow& row, std::string_view column) {
  const CsvReader::Column at = column_of(column);
  return cells_.need(row, at, cells_.integer(row, at, 1, kMost), std::int64_t{1});
}

double GpuTableReader::positive(const CsvRow& row, std::string_view column) {
  const CsvReader::Column at = column_of(column);
  return cells_.need(row, at, cells_.positive(row, at), 1.0);
}

std::optional<std::int64_t> GpuTableReader::count(const CsvRow& row, std::string_view column) {
  return cells_.integer(row, column_of(column), 0, kMost);
}

void GpuTableReader::need_gpu() {
  if (context_->gpu.empty() && !has("gpu")) {
    cells_.error(table_->header, 0, "the table does not say of which GPU it is; use --gpu NAME");
  }
}
void GpuTableReader::need_precision() {
  if (!context_->precision) {
    cells_.error(table_->header, 0,
                 "the table does not say in which precision; use --precision NAME");
  }
}
void GpuTableReader::need_problem() {
  if (!context_->problem) {
    cells_.error(table_->header, 0, "the table does not say of which GEMM; use --problem MxNxK");
  }
}

void GpuTableReader::add(GpuMeasurement measurement) {
  if (measurement.gpu.empty()) {
    measurement.gpu = context_->gpu;
  }
  measurement.origin = context_->origin.empty() ? measurement.origin
                       : measurement.origin.empty()
                           ? context_->origin
                           : fmt::format("{}: {}", context_->origin, measurement.origin);
  result_->measurements.push_back(std::move(measurement));
}

void GpuTableReader::finish() {
  constexpr std::array kProblem{"b",      "batch",  "batch_count", "batch_size", "groups",
                                "transA", "transB", "trans_a",     "trans_b"};
  std::string unread;
  for (std::size_t i = 0; i < table_->header.cells.size(); ++i) {
    const std::string& name = table_->header.cells[i].text;
    if (asked_.contains(name)) {
      continue;
    }
    unread += (unread.empty() ? "" : ", ") + name;
    const bool is_of_problem =
        std::any_of(kProblem.begin(), kProblem.end(),
                    [&](const char* known) { return equal_but_for_case(name, known); });
    const auto is_plain = [i](const CsvRow& row) {
      return row.cells[i].text.empty() || row.cells[i].text == "1" || row.cells[i].text == "N";
    };
    if (is_of_problem && !std::all_of(table_->rows.begin(), table_->rows.end(), is_plain)) {
      cells_.error(table_->header, i,
                   fmt::format("column {} says which problem it is, and tables of this kind are "
                               "read without it",
                               quoted(name)));
    }
  }
  cells_.finish();
  for (const auto& [why, count] : left_out_) {
    result_->notes.push_back(fmt::format("left out {} rows: {}", count, why));
  }
  if (!unread.empty()) {
    result_->notes.push_back(fmt::format("columns that were not read: {}", unread));
  }
}

GemmProblem gemm_of(GpuPrecision precision, std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmProblem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.precision = precision;
  problem.output = precision == GpuPrecision::kS8 ? Bytes{4} : operand_size(precision);
  if (precision == GpuPrecision::kFp8) {
    problem.output = Bytes{2};
  }
  return problem;
}

namespace {

// The peaks that Triton's test divides by (triton/testing.py, get_max_tensorcore_tflops):
// operations per cycle of a quarter of an SM, two per multiply-add.
struct TritonChip {
  const char* name;
  double sms;
  double f16;
  double tf32;
  double s8;
};
constexpr std::array kTritonChips{TritonChip{"V100", 80, 256, 0, 0},
                                  TritonChip{"A100", 108, 512, 256, 1024}};

void read_triton(GpuTableReader& reader) {
  for (const char* name : {"gpu", "sm_clock_mhz", "M", "N", "K", "dtype"}) {
    reader.cells().require({name});
  }
  for (const CsvRow& row : reader.rows()) {
    const std::string gpu = reader.text(row, "gpu");
    const std::string dtype = reader.text(row, "dtype");
    const auto* const chip = std::find_if(kTritonChips.begin(), kTritonChips.end(),
                                          [&](const TritonChip& c) { return gpu == c.name; });
    if (chip == kTritonChips.end()) {
      reader.cells().error(row, reader.cells().find("gpu"),
                           fmt::format("no peak of {} known; V100, A100", quoted(gpu)));
      continue;
    }
    const bool is_half = dtype == "float16";
    const bool is_integer = dtype == "int8";
    const double rate = is_half ? chip->f16 : is_integer ? chip->s8 : chip->tf32;
    GpuMeasurement m;
    m.gpu = gpu;
    m.clock = Hertz{reader.positive(row, "sm_clock_mhz") * 1e6};
    m.problem = gemm_of(is_half      ? GpuPrecision::kF16
                        : is_integer ? GpuPrecision::kS8
                                     : GpuPrecision::kTf32,
                        reader.extent(row, "M"), reader.extent(row, "N"), reader.extent(row, "K"));
    const double operations = 2.0 * static_cast<double>(m.problem.m) *
                              static_cast<double>(m.problem.n) * static_cast<double>(m.problem.k);
    const double peak = chip->sms * 4 * rate * m.clock.count();
    m.median = Seconds{operations / (peak * reader.positive(row, "util_of_peak_at_clock"))};
    m.origin = "Triton's best of its configurations";
    reader.add(std::move(m));
  }
}

// BLAS matrices are column-major: C^T = B^T A^T is what a row-major GEMM sees. Its A is stored as
// [n][k] unless transB, its B as [k][m] unless not transA.
void read_deepbench(GpuTableReader& reader) {
  for (const char* name : {"gpu", "precision", "M", "N", "K", "transA", "transB", "time_ms"}) {
    reader.cells().require({name});
  }
  for (const CsvRow& row : reader.rows()) {
    const std::string word = reader.text(row, "precision");
    std::optional<GpuPrecision> precision;
    if (word == "FP32") {
      precision = GpuPrecision::kF32;
    } else if (word.starts_with("FP16") || word == "Mixed Precision") {
      precision = GpuPrecision::kF16;
    } else if (word == "INT8") {
      precision = GpuPrecision::kS8;
    } else {
      reader.leave_out(fmt::format("precision {}", quoted(word)));
      continue;
    }
    GpuMeasurement m;
    m.gpu = reader.text(row, "gpu");
    m.problem = gemm_of(*precision, reader.extent(row, "N"), reader.extent(row, "M"),
                        reader.extent(row, "K"));
    m.problem.a = reader.text(row, "transB") == "T" ? MatrixLayout::kColumn : MatrixLayout::kRow;
    m.problem.b = reader.text(row, "transA") == "T" ? MatrixLayout::kColumn : MatrixLayout::kRow;
    m.median = Seconds{reader.positive(row, "time_ms") * 1e-3};
    reader.add(std::move(m));
  }
}

struct TableKind {
  const char* name;
  const char* column;  // that tells it from the others
  void (*read)(GpuTableReader&);
};
constexpr std::array kKinds{TableKind{"leetcuda", "warp_frag_m", read_leetcuda},
                            TableKind{"neusight_conv", "kernel_szie", read_neusight_conv},
                            TableKind{"deepbench_conv", "pad_w", read_deepbench_conv},
                            TableKind{"ladder", "max_abs_err", read_ladder},
                            TableKind{"neusight", "grid_x", read_neusight},
                            TableKind{"clblast", "MWG", read_clblast},
                            TableKind{"triton", "util_of_peak_at_clock", read_triton},
                            TableKind{"deepbench", "transA", read_deepbench},
                            TableKind{"cutlass", "cta_m", read_cutlass}};

// Tables that are published beside such timings, by a column that no other has, and why they cannot
// calibrate.
struct OtherTable {
  const char* column;
  const char* why;
};
constexpr std::array kOthers{
    OtherTable{"best_time_us",
               "best AutoTVM schedules of direct and Winograd convolutions: their loops are no "
               "kernels of the model, and one per layer cannot be ranked"},
    OtherTable{"flop_per_sm_clk", "rates of MMA instructions, no GEMM: 'rates' of an architecture"},
    OtherTable{"pred_ms", "times that a model predicts, not measured ones"},
    OtherTable{"gelems_per_s", "an element-wise or row-wise operation, no GEMM"},
    OtherTable{"dram_bw_util", "element-wise operations, no GEMM"},
    OtherTable{"mean HW_power", "power, no times"},
    OtherTable{"blocks_per_sm", "occupancy, no times"},
    OtherTable{"spill_st", "registers of compiled kernels, no times"},
    OtherTable{"total_sass", "instructions of compiled kernels, no times"},
    OtherTable{"sm_arch", "specifications of chips: they go into architecture files"},
    OtherTable{"quantity", "specifications of chips: they go into architecture files"},
    OtherTable{"fact", "specifications of chips: they go into architecture files"},
    OtherTable{"h", "a row-wise operation (softmax, layer norm), no GEMM"}};

void refuse_others(GpuTableReader& reader) {
  for (const OtherTable& other : kOthers) {
    if (reader.has(other.column) && !(reader.has("m") && reader.has("n"))) {
      reader.complain(fmt::format("not a table of GEMM timings: {}", other.why));
      reader.cells().finish();  // throws
    }
  }
}

}  // namespace

std::string known_tables() {
  std::string text =
      "tables that are known: plain ones with m, n, k and a time (latency_us, latency_ms, time_ms, "
      "ms, median_ms, ...)";
  for (const TableKind& kind : kKinds) {
    text += fmt::format("; {} (told by {})", kind.name, quoted(kind.column));
  }
  return text;
}

namespace {

GpuTableImport read_table(const std::string& text, const std::string& filename,
                          const GpuTableContext& context) {
  GpuTableImport result;
  if (const std::size_t first = text.find_first_not_of(" \t\r\n");
      first != std::string::npos && text[first] == '{') {
    result.kind = "t4";
    read_t4(text, filename, context, result);
    return result;
  }
  const CsvTable table = parse_csv(text, filename);
  GpuTableReader reader{table, context, result};
  refuse_others(reader);
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                        [&](const TableKind& k) { return reader.has(k.column); });
  result.kind = kind == kKinds.end() ? "plain" : kind->name;
  (kind == kKinds.end() ? read_plain : kind->read)(reader);
  reader.finish();
  return result;
}

}  // namespace

GpuTableImport import_gpu_table(const std::string& text, const std::string& filename,
                                const GpuTableContext& context) {
  GpuTableImport result = read_table(text, filename, context);
  if (context.hot) {
    for (GpuMeasurement& m : result.measurements) {
      const bool says = m.hot || m.cold;
      m.hot = says ? m.hot : *context.hot;
      m.cold = !m.hot;
    }
  }
  return result;
}

}  // namespace mapsim
