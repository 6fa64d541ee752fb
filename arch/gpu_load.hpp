// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/gpu.hpp"
#include "core/document.hpp"

namespace mapsim {

// Is it the `gpu:` form of an architecture file? That key alone decides.
bool describes_gpu(const Document& document);

// Read a GPU (docs/gpu.md) from a file, a text or a document. Throw ConfigError with all errors,
// also if it is not the `gpu:` form of an architecture file.
Gpu load_gpu(const std::string& path);
Gpu parse_gpu(const std::string& text, const std::string& filename);
Gpu read_gpu(const Document& document);

}  // namespace mapsim
