// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/reader.hpp"
#include "interop/gpu_table_row.hpp"

namespace mapsim {
namespace {

struct NamedPrecision {
  const char* name;
  GpuPrecision precision;
};
// As cutlass_profiler names operands.
constexpr std::array kCutlass{
    NamedPrecision{"f64", GpuPrecision::kF64},   NamedPrecision{"f32", GpuPrecision::kF32},
    NamedPrecision{"tf32", GpuPrecision::kTf32}, NamedPrecision{"f16", GpuPrecision::kF16},
    NamedPrecision{"bf16", GpuPrecision::kBf16}, NamedPrecision{"s8", GpuPrecision::kS8},
    NamedPrecision{"fe4m3", GpuPrecision::kFp8}, NamedPrecision{"e4m3", GpuPrecision::kFp8}};

// "f16:column".
struct Operand {
  std::string type;
  MatrixLayout layout = MatrixLayout::kRow;
};
Operand operand_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  const bool column = colon != std::string::npos && text.substr(colon + 1).starts_with("column");
  return {text.substr(0, colon), column ? MatrixLayout::kColumn : MatrixLayout::kRow};
}

// An operand seen from the transposed product: the same bytes, indices exchanged.
MatrixLayout transposed(MatrixLayout layout) {
  return layout == MatrixLayout::kRow ? MatrixLayout::kColumn : MatrixLayout::kRow;
}

std::optional<GpuPrecision> precision_of(GpuTableReader& reader, const CsvRow& row) {
  const std::string type = operand_of(reader.text(row, "A")).type;
  const auto* const found = std::find_if(kCutlass.begin(), kCutlass.end(),
                                         [&](const NamedPrecision& n) { return type == n.name; });
  if (found == kCutlass.end()) {
    return std::nullopt;
  }
  if (found->precision == GpuPrecision::kF16 && reader.text(row, "accum") == "f16") {
    return GpuPrecision::kF16Acc16;
  }
  if (found->precision == GpuPrecision::kF32 && reader.text(row, "op_class") == "tensorop") {
    return GpuPrecision::kTf32;
  }
  return found->precision;
}

KernelChoice cutlass_kernel(GpuTableReader& reader, const CsvRow& row) {
  KernelChoice kernel;
  kernel.block = {reader.extent(row, "cta_m"), reader.extent(row, "cta_n"),
                  reader.extent(row, "cta_k")};
  const std::int64_t instruction_m = reader.extent(row, "inst_m");
  const bool simt = reader.text(row, "op_class") == "simt";
  kernel.path = simt ? GpuPath::kSimt : instruction_m == 64 ? GpuPath::kWgmma : GpuPath::kMma;
  kernel.fragment = {16, 16, 16};
  std::int64_t rows = reader.extent(row, "warps_m");
  if (kernel.path == GpuPath::kWgmma) {
    kernel.fragment = {64, reader.extent(row, "inst_n"), reader.extent(row, "inst_k")};
    rows = std::max<std::int64_t>(rows / 4, 1);  // four warps along M are a warpgroup
    kernel.cluster = std::max<std::int64_t>(reader.count(row, "cluster_m").value_or(1), 1);
  }
  kernel.warp = {std::max<std::int64_t>(kernel.block.m / rows, 1),
                 std::max<std::int64_t>(kernel.block.n / reader.extent(row, "warps_n"), 1),
                 kernel.block.k};
  kernel.stages = reader.extent(row, "stages");
  kernel.split_k = std::max<std::int64_t>(reader.count(row, "split_k_slices").value_or(1), 1);
  kernel.raster = reader.count(row, "swizzle_size").value_or(1);
  kernel.padding = 0;
  return kernel;
}

// The model's tensor-core fragment of a precision; the tools' instructions are parts of it.
void set_fragment(KernelChoice& kernel, GpuPrecision precision) {
  const bool is_tensor = kernel.path == GpuPath::kMma || kernel.path == GpuPath::kWmma;
  if (is_tensor && !wmma_fragments(precision).empty()) {
    kernel.fragment = wmma_fragments(precision).front();
  }
}

// The same computation with C row-major: C^T = B^T A^T.
void transpose(GemmProblem& problem, KernelChoice& kernel) {
  std::swap(problem.m, problem.n);
  const MatrixLayout a = problem.a;
  problem.a = transposed(problem.b);
  problem.b = transposed(a);
  std::swap(kernel.block.m, kernel.block.n);
  std::swap(kernel.warp.m, kernel.warp.n);
  std::swap(kernel.fragment.m, kernel.fragment.n);
}

}  // namespace

void read_cutlass(GpuTableReader& reader) {
  reader.need_gpu();
  for (const char* name : {"Operation", "Status", "m", "n", "k", "A", "B", "C", "accum", "op_class",
                           "cta_n", "cta_k", "warps_m", "warps_n", "inst_m", "stages", "Runtime"}) {
    reader.cells().require({name});
  }
  reader.cells().finish();
  for (const CsvRow& row : reader.rows()) {
    if (reader.text(row, "Status") != "success") {
      reader.leave_out("a status that is not success");
      continue;
    }
    // passed, failed, incorrect, not_verified, not_run, ...; the profiler may not verify at all.
    const std::string disposition = reader.text(row, "Disposition");
    if (!disposition.empty() && disposition != "passed" && disposition != "not_verified") {
      reader.leave_out(fmt::format("disposition {}", quoted(disposition)));
      continue;
    }
    if (reader.text(row, "cta_m").empty()) {
      reader.leave_out("no tile: a library's kernel");
      continue;
    }
    const std::optional<GpuPrecision> precision = precision_of(reader, row);
    if (!precision) {
      reader.leave_out(fmt::format("operands of {}", quoted(reader.text(row, "A"))));
      continue;
    }
    GpuMeasurement m;
    m.problem = gemm_of(*precision, reader.extent(row, "m"), reader.extent(row, "n"),
                        reader.extent(row, "k"));
    m.problem.batch = std::max<std::int64_t>(reader.count(row, "batch_count").value_or(1), 1);
    m.problem.a = operand_of(reader.text(row, "A")).layout;
    m.problem.b = operand_of(reader.text(row, "B")).layout;
    const Operand c = operand_of(reader.text(row, "C"));
    m.problem.output = Bytes{c.type == "f64"                      ? 8
                             : c.type == "f32" || c.type == "s32" ? 4
                             : c.type == "s8"                     ? 1
                                                                  : 2};
    KernelChoice kernel = cutlass_kernel(reader, row);
    set_fragment(kernel, *precision);
    if (c.layout == MatrixLayout::kColumn) {
      transpose(m.problem, kernel);
    }
    if (kernel.path == GpuPath::kSimt) {
      const std::optional<KernelChoice> simt = simt_kernel(kernel.block, 32 * kernel.warps());
      if (!simt) {
        reader.leave_out("threads that do not share the tile evenly");
        continue;
      }
      kernel.warp = simt->warp;
      kernel.fragment = simt->fragment;
    }
    m.kernel = kernel;
    m.median = Seconds{reader.positive(row, "Runtime") * 1e-3};
    m.origin = reader.text(row, "Operation");
    reader.add(std::move(m));
  }
}

namespace {

// One configuration that was tried.
struct T4Result {
  std::map<std::string, std::int64_t> parameters;
  std::optional<double> milliseconds;
  std::string invalidity;
};

// Whole numbers among the configuration; text and fractions are no part of a kernel.
void read_configuration(Reader& reader, const Node& node, T4Result& result) {
  for (const Entry* entry : reader.entries(node, "a map of parameters")) {
    const std::string& text = entry->value.text;
    if (entry->value.kind == Node::Kind::kScalar && !text.empty() && text.size() < 10 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      result.parameters[entry->key.text] = std::stoll(text);
    }
  }
}

const Node* find(const std::vector<const Entry*>& entries, std::string_view key) {
  for (const Entry* entry : entries) {
    if (entry->key.text == key) {
      return &entry->value;
    }
  }
  return nullptr;
}

// The measurement called "time", in ms unless its unit says otherwise.
void read_times(Reader& reader, const Node& list, T4Result& result) {
  for (const Node* item : reader.items(list, "a list of measurements")) {
    const auto entries = reader.entries(*item, "a measurement");
    const Node* name = find(entries, "name");
    if (name == nullptr || name->text != "time") {
      continue;
    }
    const std::optional<double> value = reader.number(find(entries, "value"), 0);
    const Node* unit = find(entries, "unit");
    const std::string word = unit == nullptr || unit->text.empty() ? "ms" : unit->text;
    const std::array<std::pair<const char*, double>, 4> units{
        std::pair{"s", 1e3}, {"ms", 1.0}, {"us", 1e-3}, {"ns", 1e-6}};
    const auto* const known =
        std::find_if(units.begin(), units.end(), [&](const auto& u) { return word == u.first; });
    if (known == units.end()) {
      reader.error(*unit, fmt::format("unknown unit {}; s, ms, us or ns", quoted(word)));
    } else if (value) {
      result.milliseconds = *value * known->second;
    }
  }
}

T4Result read_result(Reader& reader, const Node& node) {
  T4Result result;
  const auto entries = reader.entries(node, "a result");
  if (const Node* configuration = find(entries, "configuration")) {
    read_configuration(reader, *configuration, result);
  } else {
    reader.error(node, "a result without a configuration");
  }
  const Node* invalidity = find(entries, "invalidity");
  result.invalidity = invalidity == nullptr ? "correct" : invalidity->text;
  const Node* measurements = find(entries, "measurements");
  if (measurements != nullptr && result.invalidity == "correct") {
    read_times(reader, *measurements, result);
  }
  return result;
}

}  // namespace

// T4, the format of auto-tuners (Kernel Tuner's store_output_file): {"results": [{"configuration":
// {...}, "invalidity": "correct", "measurements": [{"name": "time", "value": 1.5, "unit":
// "ms"}]}]}.
void read_t4(const std::string& text, const std::string& filename, const GpuTableContext& context,
             GpuTableImport& result) {
  const Document document = parse_yaml(text, filename);  // JSON is YAML
  Reader reader{document};
  const auto entries = reader.entries(document.root, "a T4 file");
  const Node* results = find(entries, "results");
  if (results == nullptr) {
    reader.error(document.root, "not a T4 file: no 'results'");
  }
  if (context.gpu.empty()) {
    reader.error(document.root, "the T4 file does not say of which GPU it is; use --gpu NAME");
  }
  if (!context.problem) {
    reader.error(document.root,
                 "the T4 file does not say of which GEMM it is; use --problem MxNxK");
  }
  if (!context.precision) {
    reader.error(document.root,
                 "the T4 file does not say in which precision; use --precision NAME");
  }
  reader.finish();
  std::map<std::string, std::int64_t> left_out;
  for (const Node* node : reader.items(*results, "a list of results")) {
    const T4Result one = read_result(reader, *node);
    const NamedKernel named = kernel_of(one.parameters);
    if (one.invalidity != "correct") {
      ++left_out[fmt::format("invalidity {}", quoted(one.invalidity))];
    } else if (!one.milliseconds || *one.milliseconds <= 0) {
      ++left_out["no measurement called 'time'"];
    } else if (!named.kernel) {
      ++left_out[named.problem];
    } else {
      GpuMeasurement m;
      m.gpu = context.gpu;
      m.problem =
          gemm_of(*context.precision, context.problem->m, context.problem->n, context.problem->k);
      m.kernel = named.kernel;
      set_fragment(*m.kernel, *context.precision);
      m.median = Seconds{*one.milliseconds * 1e-3};
      m.origin = context.origin;
      result.measurements.push_back(std::move(m));
    }
  }
  reader.finish();
  for (const auto& [why, count] : left_out) {
    result.notes.push_back(fmt::format("left out {} rows: {}", count, why));
  }
}

}  // namespace mapsim
