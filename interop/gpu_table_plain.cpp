// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "arch/gpu_words.hpp"
#include "core/ascii.hpp"
#include "interop/gpu_table_row.hpp"

namespace mapsim {
namespace {

struct TimeColumn {
  const char* name;
  double seconds;
};
// A median before a mean, where a table has both.
constexpr std::array kTimes{
    TimeColumn{"latency_us", 1e-6}, TimeColumn{"latency_ms", 1e-3}, TimeColumn{"time_ms", 1e-3},
    TimeColumn{"time_us", 1e-6},    TimeColumn{"median_us", 1e-6},  TimeColumn{"median_ms", 1e-3},
    TimeColumn{"mean_us", 1e-6},    TimeColumn{"mean_ms", 1e-3},    TimeColumn{"runtime_ms", 1e-3},
    TimeColumn{"us", 1e-6},         TimeColumn{"ms", 1e-3},         TimeColumn{"latency_s", 1},
    TimeColumn{"time_s", 1},        TimeColumn{"median_s", 1}};

// A kernel of the ladder by its name, "mma_pipe" or "mma_pipe@s3". Its sources (gemm_mma.cu,
// gemm_wmma.cu, cutlass_sm90.cu of blackwell-tensorcore-kernels): A and B row-major halves, C in
// fp32; a swizzled mma kernel of 128x128x32; WMMA without padding, whose tile depends on the size;
// CUTLASS of 128x256x64 in clusters of two along M.
NamedKernel ladder_kernel(const std::string& name, const GemmProblem& problem) {
  const std::size_t at = name.find("@s");
  const std::string base = name.substr(0, at);
  KernelChoice kernel;
  kernel.raster = 0;
  kernel.padding = 0;
  kernel.block = {128, 128, 32};
  kernel.warp = {32, 32, 32};
  kernel.stages = at != std::string::npos && at + 3 == name.size() ? name[at + 2] - '0' : 2;
  if (base == "wmma") {
    kernel.path = GpuPath::kWmma;
    const bool is_big = problem.m >= 1536 && problem.n >= 1536;
    kernel.stages = is_big ? 3 : 2;
    if (!is_big) {
      kernel.block = {64, 64, 32};
      kernel.warp = {16, 16, 32};
    }
    return {kernel, ""};
  }
  kernel.path = GpuPath::kMma;
  if (base == "mma_pipe") {
    return {kernel, ""};
  }
  if (base == "mma_warptile") {
    kernel.warp = {64, 64, 32};
    return {kernel, ""};
  }
  if (base == "mma_vec") {
    kernel.stages = 1;
    return {kernel, ""};
  }
  if (base.starts_with("cutlass")) {
    kernel.path = GpuPath::kWgmma;
    kernel.block = {128, 256, 64};
    kernel.warp = {64, 256, 64};
    kernel.fragment = {64, 256, 16};
    kernel.stages = 3;
    kernel.cluster = 2;
    return {kernel, ""};
  }
  return {{}, "naive, tiled or element-wise copies, or a name that is not known: not in the model"};
}

}  // namespace

void read_plain(GpuTableReader& reader) {
  const std::string m_name = reader.any({"m"});
  const std::string n_name = reader.any({"n"});
  const std::string k_name = reader.any({"k"});
  const auto* const time = std::find_if(kTimes.begin(), kTimes.end(), [&](const TimeColumn& t) {
    return !reader.any({t.name}).empty();
  });
  std::string missing;
  for (const auto& [name, what] :
       {std::pair{&m_name, "m"}, std::pair{&n_name, "n"}, std::pair{&k_name, "k"}}) {
    missing += name->empty() ? (missing.empty() ? "" : ", ") + quoted(what) : "";
  }
  if (time == kTimes.end()) {
    missing += std::string{missing.empty() ? "" : ", "} + "a time";
  }
  if (!missing.empty()) {
    reader.complain(
        fmt::format("not a table that is known, and as a plain one it lacks {}", missing));
    reader.complain(known_tables());
    reader.cells().finish();  // throws: of an unknown table no row is worth a word
  }
  const std::string gpu = reader.any({"gpu", "device", "gpu_name"});
  const std::string batch = reader.any({"batch", "batch_count", "batch_size", "b"});
  const std::string precision = reader.any({"precision", "dtype"});
  if (gpu.empty()) {
    reader.need_gpu();
  }
  if (precision.empty()) {
    reader.need_precision();
  }
  const std::string time_name = reader.any({time->name});
  const std::string cache = reader.any({"cache"});
  for (const CsvRow& row : reader.rows()) {
    const auto type = precision.empty() || reader.context().precision
                          ? reader.context().precision
                          : precision_named(lower_case(reader.text(row, precision)));
    if (!type && !precision.empty()) {
      reader.leave_out(fmt::format("precision {}", quoted(reader.text(row, precision))));
      continue;
    }
    GpuMeasurement m;
    m.gpu = reader.text(row, gpu);
    m.problem = gemm_of(type.value_or(GpuPrecision::kF16), reader.extent(row, m_name),
                        reader.extent(row, n_name), reader.extent(row, k_name));
    m.problem.batch = batch.empty() ? 1 : reader.extent(row, batch);
    m.median = Seconds{reader.positive(row, time_name) * time->seconds};
    m.hot = !cache.empty() && lower_case(reader.text(row, cache)) == "hot";
    m.cold = !cache.empty() && lower_case(reader.text(row, cache)) == "cold";
    reader.add(std::move(m));
  }
}

// A ladder of hand-written kernels beside cuBLAS (waynehacking8/blackwell-tensorcore-kernels).
void read_ladder(GpuTableReader& reader) {
  for (const char* name : {"device", "M", "N", "K", "kernel", "ms"}) {
    reader.cells().require({name});
  }
  reader.cells().finish();
  for (const CsvRow& row : reader.rows()) {
    const std::string name = reader.text(row, "kernel");
    const bool is_library = name == "cublastc" || name == "cublas_tc";
    const bool is_f32 = name == "cublas" || name == "cublas_tf32" || name == "cublastf32";
    GpuMeasurement m;
    m.gpu = reader.text(row, "device");
    m.problem = gemm_of(!is_f32            ? GpuPrecision::kF16
                        : name == "cublas" ? GpuPrecision::kF32
                                           : GpuPrecision::kTf32,
                        reader.extent(row, "M"), reader.extent(row, "N"), reader.extent(row, "K"));
    m.problem.output = Bytes{4};
    m.problem.b = MatrixLayout::kRow;
    if (!is_library && !is_f32) {
      NamedKernel named = ladder_kernel(name, m.problem);
      if (!named.kernel) {
        reader.leave_out(named.problem);
        continue;
      }
      m.kernel = named.kernel;
    }
    m.median = Seconds{reader.positive(row, "ms") * 1e-3};
    m.origin = name;
    reader.add(std::move(m));
  }
}

}  // namespace mapsim
