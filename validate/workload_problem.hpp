// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <variant>

#include "costmodel/gpu/convolution.hpp"
#include "validate/kernels/source.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A layer as one GEMM, or implicit GEMM of an NHWC convolution, that a generated kernel computes
// without any pass before or after it. The text: why there is none.
//
// A convolution's image and padding are those of conv2d. Of an einsum that says only how many
// elements are stored, they are what gives as many, the same above and below; where nothing does,
// the input is the padded one, and where several do, there is no kernel. M, N and K are the layer's
// either way.
std::variant<KernelSpec, std::string> kernel_problem(const Gpu& gpu, const Workload& workload,
                                                     const GpuRequest& request);

// "n1 h56 w56 c64 k64 r3 s3 p56 q56 stride 1x1 dilation 1x1 padding 1x1 groups 1"; "" for a GEMM.
std::string convolution_text(const KernelSpec& spec);

}  // namespace mapsim
