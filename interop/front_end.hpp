// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "interop/template.hpp"

namespace mapsim {

// A document of another tool that may have been put together from templates and included files, and
// where its lines come from.
struct FrontEndDocument {
  Document document;
  std::vector<LinePlace> lines;
};

// Names that templates may use, and their values: `--set NAME=VALUE`.
using FrontEndSettings = std::map<std::string, std::string>;

// What a template that is included may use beside the settings.
enum class Includes : std::uint8_t {
  kSettings,  // nothing
  kInherit    // the names of the template that includes it, as AccelForge has it
};

// Reads a file as the YAML front end of Timeloop does: templates (interop/template.hpp) with
// include(file, key), include_all(files, key), include_text(file), add_to_path(folder), cwd(),
// path_exists(file) and find_path(file); merge keys << (own keys win) and <<< (maps and lists
// inside are merged, too, unless tagged !nomerge); !include. Files are searched beside the file
// that includes them, then in the folders of add_to_path. What include() returns may be followed by
// a path of keys: {{MODEL}}.workload. Throws ConfigError.
FrontEndDocument read_front_end(const std::string& path, const FrontEndSettings& settings,
                                Includes includes = Includes::kSettings);
FrontEndDocument parse_front_end(const std::string& text, const std::string& path,
                                 const FrontEndSettings& settings,
                                 Includes includes = Includes::kSettings);

// Where a node of the document was written: "arch.yaml:12".
std::string place_of(const FrontEndDocument& source, const Node& node);
// The same complaint at the lines that its reader wrote. `error` is about the document's lines.
ConfigError at_its_place(const ConfigError& error, const FrontEndDocument& source);

}  // namespace mapsim
