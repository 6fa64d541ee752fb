// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "arch/gpu.hpp"
#include "core/bytes.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// A forward convolution of one group or several. In memory, without gaps: input [n][h][w][groups
// c], filter [groups k][r][s][c], output [n][p][q][groups k]. As a GEMM: M = n p q, N = k, K = r s
// c, batch = groups. Output (p, q) sees input (p stride - padding + r dilation), zero outside.
struct KernelConvolution {
  std::int64_t n = 1, h = 1, w = 1, c = 1;  // c and k: of one group
  std::int64_t k = 1, r = 1, s = 1;
  std::int64_t p = 1, q = 1;  // any: what lies below and right of the input reads as zero, too
  std::array<std::int64_t, 2> stride{1, 1};  // along h, w; so are:
  std::array<std::int64_t, 2> dilation{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};  // above and left
  std::int64_t groups = 1;
  friend bool operator==(const KernelConvolution&, const KernelConvolution&) = default;
};

// The epilogue of a kernel: C = activation(alpha sum + bias[n] + beta residual). The residual is C
// itself if the problem adds to its output. Kernels of the path wmma have alpha = beta = 1, no
// activation but ReLU, and do not quantise.
enum class Activation : std::uint8_t { kNone, kRelu, kGelu, kSilu };
struct Epilogue {
  bool bias = false;
  bool relu = false;
  bool residual = false;  // of another matrix of C's form
  Activation activation = Activation::kNone;
  bool quantise = false;  // to whole numbers of 8 bits of `scale`, rounded to even, saturated
  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

// A kernel to be written: problem, tiles, convolution and epilogue.
struct KernelSpec {
  GemmProblem problem;
  KernelChoice kernel;
  std::optional<KernelConvolution> conv{};  // problem.m, n, k and batch are then its GEMM's
  Epilogue epilogue{};
  // The slowest kernel of a comparison: one warp per fragment, no overlap of copies and products,
  // operands straight from memory where they are whole fragments. Only path, fragment and raster of
  // `kernel` are used.
  bool naive = false;
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

// A CUtensorMap, which tells the TMA how to copy a matrix box by box. The driver encodes it.
struct alignas(64) TensorMap {
  std::array<std::uint64_t, 16> words{};
};
// The arguments of cuTensorMapEncodeTiled.
struct TensorMapPlan {
  GpuPrecision precision = GpuPrecision::kF16;
  std::array<std::int64_t, 3> extents{1, 1, 1};  // elements: of a line, lines, matrices
  std::array<std::int64_t, 2> strides{0, 0};     // bytes to the next line, and matrix
  std::array<std::int64_t, 3> box{1, 1, 1};
  std::int64_t swizzle = 128;  // bytes of a line of a box: 32, 64 or 128
};

// The only argument of a kernel and of its second kernel, passed by value. The kernel text declares
// the same struct; on the path wmma only up to batch_c, because the problem is a constant of the
// text there. Pointers are to device memory, aligned to 32 B. Strides of batches and rows are in
// elements.
struct KernelArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;  // [n] in the type of the sums; read only if the epilogue has it
  void* c = nullptr;
  void* workspace = nullptr;  // of a split K: [slice][batch][m][n] in the type of the sums; mma:
                              // rows of multiples of 16 B
  std::int64_t batch_a = 0;
  std::int64_t batch_b = 0;
  std::int64_t batch_bias = 0;
  std::int64_t batch_c = 0;
  const void* residual = nullptr;
  std::int64_t batch_residual = 0;
  std::int64_t row_a = 0;
  std::int64_t row_b = 0;
  std::int64_t row_c = 0;
  std::int64_t row_residual = 0;
  double alpha = 1;
  double beta = 1;
  double scale = 1;  // of quantising
  std::int32_t m = 0, n = 0, k = 0, batch = 0, slices = 1, raster = 0;
  std::int32_t h = 0, w = 0, channels = 0, taps_h = 0, taps_w = 0, outputs_h = 0, outputs_w = 0;
  std::int32_t stride_h = 0, stride_w = 0, dilation_h = 0, dilation_w = 0, pad_h = 0, pad_w = 0;
  TensorMap map_a, map_b;  // of the path wgmma: tensor_maps() for a and b
};

// The size of each buffer of a kernel, and its arguments without pointers: batches lie one after
// the other, groups of a convolution side by side.
struct KernelBuffers {
  Bytes a{0}, b{0}, bias{0}, c{0}, workspace{0}, residual{0};
  KernelArguments arguments;
};
KernelBuffers kernel_buffers(const KernelSpec& spec);
// The tensor maps of A and B, for kernels of the path wgmma; nothing for others.
std::optional<std::array<TensorMapPlan, 2>> tensor_maps(const KernelSpec& spec);

// The text of a kernel, and how to launch it.
struct KernelSource {
  std::string text;          // CUDA C++17; includes mma.h; the first line says which kernel it is
  std::string entry;         // extern "C" name; the tiles are part of it
  std::string reduce_entry;  // the second kernel of a split K, same argument; else empty
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::int64_t threads = 32;
  Bytes shared{0};  // dynamic; equal to the model's, except for naive kernels
  std::array<std::int64_t, 3> reduce_grid{1, 1, 1};
  std::int64_t reduce_threads = 0;
  Bytes workspace{0};
  bool is_for_one_chip = false;  // compiled for sm_90a, not sm_90: warpgroup MMA
};

// Why mapsim cannot write this kernel; nothing: it can. It can write, by path:
// - wmma: every legal kernel whose shared memory holds a fragment of sums;
// - mma: every kernel that is searched, but no convolution whose channels are no multiple of 16 B;
// - wgmma: kernels of GEMMs whose tiles a swizzle of the TMA can place.
std::optional<std::string> not_generated(const Gpu& gpu, const KernelSpec& spec);

// The name of the kernel's function: tiles, stages and so on, but not the problem's extents.
std::string kernel_entry(const KernelSpec& spec);

// Writes a kernel; not_generated() must be nothing. The text depends on the compute capability of
// `gpu` only. A text of the path mma serves all problems whose rows are multiples of the same
// powers of two, up to 16 B.
KernelSource kernel_source(const Gpu& gpu, const KernelSpec& spec);

}  // namespace mapsim
