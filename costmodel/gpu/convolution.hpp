// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "costmodel/gpu/estimate.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The layout of a convolution's input and output in memory; GEMMs have none.
enum class ConvLayout : std::uint8_t { kNhwc, kNchw };

// The requested form of a layer on a GPU.
struct GpuRequest {
  std::optional<GpuPrecision> precision{};  // absent: by the width of the operands
  ConvLayout layout = ConvLayout::kNhwc;
  MatrixLayout a = MatrixLayout::kRow;  // of a GEMM
  MatrixLayout b = MatrixLayout::kColumn;
};

// A pass over a tensor besides the kernel: a transposition, a copy with more channels.
struct ExtraPass {
  std::string what;
  double bytes = 0;  // read and written, from and to DRAM
};

// One way to run a layer as a GEMM. An operand of 2 B per element must come in pieces of 16 B: 8
// channels (16 of 1 B, 4 of 4 B), or the kernel copies smaller pieces; tensor cores want channels
// innermost (NHWC).
struct GemmForm {
  GemmProblem problem;
  std::vector<ExtraPass> passes;
  bool tensor_cores = true;
  std::vector<std::string> notes;  // constraints that are violated, and how this form meets them
};

// Does `workload` have an image: windows over its input, or filters? Otherwise it is a GEMM.
bool is_convolution(const Workload& workload);

// All ways to run `workload`: as it is; padded; transposed; without tensor cores. The output's dims
// in the operands decide what is M, N, K and batch (workloads/workload.hpp): an implicit GEMM of a
// convolution has M = N P Q, N = K, K = C R S. A string: why there is none.
std::variant<std::vector<GemmForm>, std::string> gemm_forms(const Gpu& gpu,
                                                            const Workload& workload,
                                                            const GpuRequest& request);

// The forms among `forms` for sparse tensor cores, with B pruned 2:4 along K, for which CUTLASS has
// kernels (from 8.0 on, operands of 8 b and 16 b, all extents multiples of 16 B). A string: why
// there is none. gemm_forms() includes them if the weights' density is structured 2:4 along the dim
// of K that is contiguous in memory.
std::variant<std::vector<GemmForm>, std::string> pruned_forms(const Gpu& gpu,
                                                              const std::vector<GemmForm>& forms);
// How many times as fast as the fastest dense kernel one of sparse tensor cores has to be predicted
// to be, so that of ten that were measured nine would be faster (docs/sparsity.md#gpus).
double least_gain_of_pruning(const Gpu& gpu, const GemmProblem& problem);

// Time of the passes: a launch and the DRAM's time each.
Seconds pass_time(const Gpu& gpu, const GpuCalibration& calibration, const GemmForm& form);

}  // namespace mapsim
