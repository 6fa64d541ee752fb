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

// An einsum of AccelForge as it is written: its tensors, and what indexes each of their ranks.
struct ForgeIndex {
  std::string rank;
  std::string expression;
};
struct ForgeAccess {
  std::string name;
  std::vector<ForgeIndex> indices;
  bool output = false;
  bool persistent = false;
  const Node* bits = nullptr;  // its own width; nullptr: as the workload has it
};
struct ForgeEntry {
  std::string name;
  const Node* node = nullptr;
  std::vector<ForgeAccess> accesses;
};

// Einsums as text, O[m, n] = I[m, k] * W[K: k, n], or as lists of tensors; lists of them in lists
// are one list. Errors go to the reader.
std::vector<ForgeEntry> read_forge_entries(Reader& reader, const Node& list, ImportNotes& notes);

// 2*p + r: coefficients and rank variables. nullopt: not of this form.
using ForgeTerms = std::vector<std::pair<std::int64_t, std::string>>;
std::optional<ForgeTerms> forge_terms(const std::string& expression);

bool is_forge_word(const std::string& text);    // may be a rank variable
bool is_forge_digits(const std::string& text);  // a whole number
std::string without_blanks(const std::string& text);

}  // namespace mapsim
