// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "core/document.hpp"

namespace mapsim {

// A layer that stands where the name of its file could:
//   gemm:MxNxK or gemm:BxMxNxK                  a (batched) matrix product
//   conv:C,H,W,K,R,S[,stride=2,padding=same]    input channels and size, output channels, kernel;
//                                               then other keys of conv2d
//   einsum:O[m][n] += A[m][k] * B[k][n]; m=64,n=64,k=32
// Operands and outputs have 8 bits and sums 32, as in the files that are shipped.
bool is_inline_layer(std::string_view text);

// The same as a workload file has it (docs/formats.md), each value at its place in `text` after the
// colon, so that errors point there. Throws ConfigError for what is no such list of values.
Document inline_layer(const std::string& text);

}  // namespace mapsim
