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

// A precision by its name or by a usual other one: fp16, half, float16, bfloat16, int8, e4m3.
std::optional<GpuPrecision> precision_named(std::string_view word);

// The same for a node of a file; errors go to the reader. nullopt: absent, or an error.
std::optional<GpuPrecision> read_precision(Reader& reader, const Node* node);

}  // namespace mapsim
