// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"
#include "core/document.hpp"

namespace mapsim {

// Read an architecture (docs/formats.md) from a file, a text or a document. The result satisfies
// the invariants of Arch. They throw ConfigError with all errors of the file.
Arch load_arch(const std::string& path);
Arch parse_arch(const std::string& text, const std::string& filename);
Arch read_arch(const Document& document);

}  // namespace mapsim
