// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "arch/gpu.hpp"
#include "core/reader.hpp"

namespace mapsim {

// The names of all precisions: to_string() of each.
const Words& precision_names();

// A precision by its name or by another that people use: fp16, half, float16, bfloat16, int8, e4m3.
std::optional<GpuPrecision> precision_named(std::string_view word);

// The same in a file.
std::optional<GpuPrecision> read_precision(Reader& reader, const Node* node);

}  // namespace mapsim
