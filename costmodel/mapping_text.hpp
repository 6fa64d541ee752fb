// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim {

// A mapping as YAML (docs/formats.md), with a newline at the end. parse_mapping() reads it back to
// the same value.
std::string print_mapping(const Arch& arch, const Workload& workload, const Mapping& mapping);

// The workload in the form that a mapping file is for (`form: winograd`; without: as it is). Throws
// ConfigError for a form that the workload does not have.
Workload load_form(const std::string& path, const Workload& workload);
Workload parse_form(const std::string& text, const std::string& filename, const Workload& workload);

// Read a mapping of `workload` on `arch`. What comes back satisfies check_structure(); anything
// else throws a ConfigError with all that is wrong with the file.
Mapping load_mapping(const std::string& path, const Arch& arch, const Workload& workload);
Mapping parse_mapping(const std::string& text, const std::string& filename, const Arch& arch,
                      const Workload& workload);

// One node of it: `for P: 4`.
std::string print_node(const Arch& arch, const Workload& workload, const MappingNode& node);

// The value of a parallel loop: EXTENT over AXIS of FANOUT, one of `fanouts`. Nothing, if an error
// has been reported; the dim is not set.
std::optional<Parallel> read_over(Reader& reader, const Node& value, const Words& fanouts);

// A word of a node's text, at a byte of it: 'for', 'P'.
struct NodeWord {
  std::string text;
  std::size_t offset = 0;
};
std::vector<NodeWord> words_of(const std::string& text);

}  // namespace mapsim
