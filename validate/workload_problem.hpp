// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <variant>

#include "costmodel/gpu/convolution.hpp"
#include "validate/kernels/source.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A layer as one GEMM, or as the implicit GEMM of an NHWC convolution, that a generated kernel
// computes without another pass before or after it. The text: why there is none.
//
// Image and padding of a conv2d are given. For an einsum that states only how many elements are
// stored, they are chosen to give that number, with equal padding above and below. If no padding
// does, the input is taken as padded already; if several do, there is no kernel. M, N and K are the
// layer's in each case.
std::variant<KernelSpec, std::string> kernel_problem(const Gpu& gpu, const Workload& workload,
                                                     const GpuRequest& request);

// "n1 h56 w56 c64 k64 r3 s3 p56 q56 stride 1x1 dilation 1x1 padding 1x1 groups 1"; "" for a GEMM.
std::string convolution_text(const KernelSpec& spec);

}  // namespace mapsim
