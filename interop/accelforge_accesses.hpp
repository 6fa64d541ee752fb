// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/reader.hpp"
#include "interop/import_notes.hpp"

namespace mapsim {

// The index of one rank in an access: `expression` of rank variables.
struct ForgeIndex {
  std::string rank;
  std::string expression;
};
// A tensor of an einsum, as it is written.
struct ForgeAccess {
  std::string name;
  std::vector<ForgeIndex> indices;
  bool output = false;
  bool persistent = false;
  const Node* bits = nullptr;  // its own width; nullptr: that of the workload
};
// An einsum, as it is written.
struct ForgeEntry {
  std::string name;
  const Node* node = nullptr;
  std::vector<ForgeAccess> accesses;
};

// Reads einsums, written as texts such as O[m, n] = I[m, k] * W[K: k, n] or as lists of tensors.
// Nested lists are flattened. Errors go to the reader.
std::vector<ForgeEntry> read_forge_entries(Reader& reader, const Node& list, ImportNotes& notes);

// The coefficients and rank variables of a sum such as 2*p + r. nullopt: not of this form.
using ForgeTerms = std::vector<std::pair<std::int64_t, std::string>>;
std::optional<ForgeTerms> forge_terms(const std::string& expression);

bool is_forge_word(const std::string& text);    // can it be a rank variable?
bool is_forge_digits(const std::string& text);  // is it a whole number?
std::string without_blanks(const std::string& text);

}  // namespace mapsim
