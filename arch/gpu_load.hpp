// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/gpu.hpp"
#include "core/document.hpp"

namespace mapsim {

// Is it the `gpu:` form of an architecture file? Decided by that key alone.
bool describes_gpu(const Document& document);

// Read a GPU (docs/gpu.md). Anything but the `gpu:` form of an architecture file, and whatever is
// wrong with it, is a ConfigError with all of it.
Gpu load_gpu(const std::string& path);
Gpu parse_gpu(const std::string& text, const std::string& filename);
Gpu read_gpu(const Document& document);

}  // namespace mapsim
