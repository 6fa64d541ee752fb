// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"
#include "core/document.hpp"

namespace mapsim {

// Read an architecture (docs/formats.md). What comes back satisfies the invariants of Arch;
// anything else throws a ConfigError with all that is wrong with the file.
Arch load_arch(const std::string& path);
Arch parse_arch(const std::string& text, const std::string& filename);
Arch read_arch(const Document& document);

}  // namespace mapsim
