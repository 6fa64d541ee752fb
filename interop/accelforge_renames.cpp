// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "interop/accelforge.hpp"

namespace mapsim {

// A map of names to sets of tensors, or a list of more about each.
void check_forge_rename_list(Reader& reader, const Node& renames) {
  if (renames.kind == Node::Kind::kMap) {
    reader.entries(renames, "a map of renames");
    return;
  }
  for (const Node* item : read_forge_list(reader, &renames, "a map or a list of renames")) {
    const Fields fields = reader.fields(*item, {"name", "source", "expected_count"});
    reader.text(fields.require("name"), "a name");
    reader.text(fields.require("source"), "a set of tensors");
  }
}

void check_forge_renames(const ForgeRenames& renames) {
  Reader& reader = *renames.reader;
  const Node* all = reader.fields(*renames.node, {"einsums"}).find("einsums");
  std::set<std::string> names;
  for (const Node* item : read_forge_list(reader, all, "a list of renames for each einsum")) {
    const Fields fields = reader.fields(*item, {"name", "tensor_accesses", "rank_variables"});
    const Node* name = fields.require("name");
    if (reader.text(name, "the name of an einsum") && !names.insert(name->text).second) {
      reader.error(*name, fmt::format("a second list of renames for {}", quoted(name->text)));
    }
    for (const char* key : {"tensor_accesses", "rank_variables"}) {
      if (const Node* list = fields.find(key)) {
        check_forge_rename_list(reader, *list);
      }
    }
  }
}

}  // namespace mapsim
