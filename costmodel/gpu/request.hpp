// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "costmodel/gpu/convolution.hpp"

namespace mapsim {

// Requests for a layer on a GPU, in the words of --precision, --path and --layout.

// A precision, and the layout of a GEMM's operands ("tn", "nn", "nt", "tt") or of a convolution's
// tensors ("nhwc", "nchw"); empty: not given.
GpuRequest request_of(const std::string& precision, const std::string& layout);

// Why this layout does not apply to this layer; nullopt: it does, or it is empty.
std::optional<std::string> wrong_layout(const std::string& layout, const Workload& workload);

// The path of this name: "wmma", "mma", "wgmma", "simt"; nullopt: there is none.
std::optional<GpuPath> path_named(std::string_view word);

}  // namespace mapsim
