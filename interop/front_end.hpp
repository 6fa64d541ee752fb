// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "interop/template.hpp"

namespace mapsim {

// A document of another tool, which may consist of templates and included files, and the origin of
// each of its lines.
struct FrontEndDocument {
  Document document;
  std::vector<LinePlace> lines;
  std::set<std::string> asked;  // settings whose values templates have used
};

// Values of names in templates: `--set NAME=VALUE`.
using FrontEndSettings = std::map<std::string, std::string>;

// The names that an included template may use beside the settings.
enum class Includes : std::uint8_t {
  kSettings,  // none
  kInherit    // those of the template that includes it (AccelForge)
};

// Reads a file like the YAML front end of Timeloop:
// - templates (interop/template.hpp) with include(file, key), include_all(files, key),
//   include_text(file), add_to_path(folder), cwd(), path_exists(file) and find_path(file);
// - merge keys << (own keys win) and <<< (maps and lists inside are merged, too, unless tagged
//   !nomerge); !include.
// Included files are searched beside the including file, then in the folders of add_to_path. A path
// of keys may follow the result of include(): {{MODEL}}.workload. Throws ConfigError.
FrontEndDocument read_front_end(const std::string& path, const FrontEndSettings& settings,
                                Includes includes = Includes::kSettings);
FrontEndDocument parse_front_end(const std::string& text, const std::string& path,
                                 const FrontEndSettings& settings,
                                 Includes includes = Includes::kSettings);

// A note for each setting that is not in `asked`.
std::vector<std::string> notes_on_settings(const FrontEndSettings& settings,
                                           const std::set<std::string>& asked);

// The file and line of a node of the document: "arch.yaml:12".
std::string place_of(const FrontEndDocument& source, const Node& node);
// `error`, which names lines of the document, with the files and lines that they come from.
ConfigError at_its_place(const ConfigError& error, const FrontEndDocument& source);

}  // namespace mapsim
