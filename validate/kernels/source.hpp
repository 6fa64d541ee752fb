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

// What happens to a finished sum before it is stored: C = relu(sum + bias[n] + old C), the latter
// where the problem adds to its output.
struct Epilogue {
  bool bias = false;
  bool relu = false;
  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

struct KernelSpec {
  GemmProblem problem;
  KernelChoice kernel;
  std::optional<KernelConvolution> conv{};  // problem.m, n, k and batch are then its GEMM's
  Epilogue epilogue{};
  // The floor: one warp per fragment, no overlap of copies and products; operands straight from
  // memory where they are whole fragments. Of `kernel` only path, fragment and raster are read.
  bool naive = false;
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

// The one argument of both kernels, by value; the kernel text declares the same. Pointers are to
// device memory, aligned to 32 B. Strides between batches in elements; rows lie run_of_a(),
// run_of_b() and n apart (convolutions: as KernelConvolution says).
struct KernelArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;  // [n] in the type of the sums; read only if the epilogue has it
  void* c = nullptr;
  void* workspace = nullptr;  // of a split K: [slice][batch][m][n] in the type of the sums
  std::int64_t batch_a = 0;
  std::int64_t batch_b = 0;
  std::int64_t batch_bias = 0;
  std::int64_t batch_c = 0;
};

// Bytes that the kernel reads and writes behind each pointer, and arguments with the strides of
// batches that lie one after the other (a convolution's groups: side by side), pointers null.
struct KernelBuffers {
  Bytes a{0}, b{0}, bias{0}, c{0}, workspace{0};
  KernelArguments arguments;
};
KernelBuffers kernel_buffers(const KernelSpec& spec);

struct KernelSource {
  std::string text;          // CUDA C++17; includes mma.h; the first line: // to_string(kernel)
  std::string entry;         // extern "C" name; the tiles are part of it
  std::string reduce_entry;  // the second kernel of a split K, same argument; else empty
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::int64_t threads = 32;
  Bytes shared{0};  // dynamic; what the model says, but for naive kernels
  std::array<std::int64_t, 3> reduce_grid{1, 1, 1};
  std::int64_t reduce_threads = 0;
  Bytes workspace{0};
};

// Why there is no kernel text for this; nothing: there is. Every legal() kernel of the path wmma
// has one but those whose shared memory does not hold one fragment of sums.
std::optional<std::string> not_generated(const Gpu& gpu, const KernelSpec& spec);

// The entry that kernel_source() gives it: tiles, stages and so on, but not the problem's extents.
std::string kernel_entry(const KernelSpec& spec);

// `spec` must not be not_generated(). Depends on `gpu` through its compute capability only.
KernelSource kernel_source(const Gpu& gpu, const KernelSpec& spec);

}  // namespace mapsim
