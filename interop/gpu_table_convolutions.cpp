// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/reader.hpp"
#include "interop/gpu_table_row.hpp"

namespace mapsim {
namespace {

// Of a square input and filter, or of both their sides.
struct Window {
  std::int64_t size = 1, filter = 1, stride = 1, padding = 0;
  std::int64_t outputs() const { return (size + 2 * padding - filter) / stride + 1; }
};

struct ConvTableRow {
  std::int64_t images = 1, channels = 1, filters = 1;
  Window rows, columns;
};

// The implicit GEMM of a planar (NCHW) convolution: M = images x outputs, N = filters, K = channels
// x window. Pixels lie together in the input, but a window begins anywhere in them: element by
// element. Weights lie together along K. Nothing: there is no output, or a GEMM of more than 2^53
// MACs or elements.
std::optional<GemmProblem> implicit_gemm(GpuPrecision precision, const ConvTableRow& row) {
  const Window& r = row.rows;
  const Window& c = row.columns;
  if (r.size + 2 * r.padding < r.filter || c.size + 2 * c.padding < c.filter) {
    return std::nullopt;
  }
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  const double pixels = real(row.images) * real(r.outputs()) * real(c.outputs());
  const double taps = real(row.channels) * real(r.filter) * real(c.filter);
  const double inputs = real(row.images) * real(row.channels) * real(r.size) * real(c.size);
  if (pixels * taps > real(kMaxInteger) || inputs > real(kMaxInteger)) {
    return std::nullopt;
  }
  GemmProblem problem = gemm_of(precision, row.images * r.outputs() * c.outputs(), row.filters,
                                row.channels * r.filter * c.filter);
  problem.a = MatrixLayout::kColumn;
  problem.run_a = 1;
  problem.stored_a = std::min(row.images * row.channels * r.size * c.size, problem.m * problem.k);
  return problem;
}

std::int64_t padding_of(GpuTableReader& reader, const CsvRow& row, const char* column) {
  return reader.count(row, column).value_or(0);
}

}  // namespace

// cuDNN's forward convolutions in FP32, NCHW. Those that are one implicit GEMM are named scudnn and
// not winograd, and say their tile: its M along pixels (the grids say so). Another small kernel
// that computes offsets is in the time.
void read_neusight_conv(GpuTableReader& reader) {
  for (const char* name :
       {"gpu", "b", "input_channel", "output_channel", "kernel_szie", "input_size", "stride",
        "padding", "latency_ms", "tile_m", "tile_n", "grid_z", "block", "n_kernels", "kernel"}) {
    reader.cells().require({name});
  }
  reader.cells().finish();
  for (const CsvRow& row : reader.rows()) {
    const std::string name = reader.text(row, "kernel");
    if (name.find("winograd") != std::string::npos) {
      reader.leave_out("Winograd: not in the model");
      continue;
    }
    if (name.find("scudnn") == std::string::npos || name.find("nchw") != std::string::npos ||
        reader.extent(row, "n_kernels") > 2 || reader.text(row, "tile_m").empty()) {
      reader.leave_out("not one implicit GEMM with a known tile (im2col, FFT, transposition)");
      continue;
    }
    const Window window{reader.extent(row, "input_size"), reader.extent(row, "kernel_szie"),
                        reader.extent(row, "stride"), padding_of(reader, row, "padding")};
    const std::optional<GemmProblem> problem = implicit_gemm(
        GpuPrecision::kF32, {reader.extent(row, "b"), reader.extent(row, "input_channel"),
                             reader.extent(row, "output_channel"), window, window});
    const GemmTile block{reader.extent(row, "tile_m"), reader.extent(row, "tile_n"), 8};
    GpuMeasurement m;
    m.kernel = simt_kernel(block, reader.extent(row, "block"));
    if (!problem || !m.kernel) {
      reader.leave_out("no output, too many MACs, or threads that do not share the tile evenly");
      continue;
    }
    m.gpu = reader.text(row, "gpu");
    m.problem = *problem;
    m.kernel->stages = 2;
    m.kernel->raster = 0;
    m.median = Seconds{reader.positive(row, "latency_ms") * 1e-3};
    m.origin = name;
    reader.add(std::move(m));
  }
}

// Forward passes by implicit GEMM in FP32; which tile cuDNN took is not said. FP16 goes through
// transpositions that are in the time but in no column.
void read_deepbench_conv(GpuTableReader& reader) {
  for (const char* name : {"gpu", "precision", "pass", "W", "H", "C", "N", "K", "S", "R", "pad_w",
                           "pad_h", "stride_w", "stride_h", "time_ms", "algo"}) {
    reader.cells().require({name});
  }
  reader.cells().finish();
  for (const CsvRow& row : reader.rows()) {
    if (reader.text(row, "pass") != "fwd") {
      reader.leave_out("a backward pass");
      continue;
    }
    if (reader.text(row, "precision") != "FP32") {
      reader.leave_out("FP16 in NCHW: transpositions are in the time");
      continue;
    }
    if (!reader.text(row, "algo").ends_with("GEMM")) {
      reader.leave_out("Winograd or FFT: not in the model");
      continue;
    }
    const Window rows{reader.extent(row, "H"), reader.extent(row, "R"),
                      reader.extent(row, "stride_h"), padding_of(reader, row, "pad_h")};
    const Window columns{reader.extent(row, "W"), reader.extent(row, "S"),
                         reader.extent(row, "stride_w"), padding_of(reader, row, "pad_w")};
    const std::optional<GemmProblem> problem = implicit_gemm(
        GpuPrecision::kF32,
        {reader.extent(row, "N"), reader.extent(row, "C"), reader.extent(row, "K"), rows, columns});
    if (!problem) {
      reader.leave_out("no output, or too many MACs");
      continue;
    }
    GpuMeasurement m;
    m.gpu = reader.text(row, "gpu");
    m.problem = *problem;
    m.median = Seconds{reader.positive(row, "time_ms") * 1e-3};
    m.origin = reader.text(row, "algo");
    reader.add(std::move(m));
  }
}

}  // namespace mapsim
