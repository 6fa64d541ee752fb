// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mapsim {

inline constexpr std::string_view kFolderEnergies = "energies (ERT)";

// A file of a folder; `text` is empty where it is large, or a model.
struct FolderFile {
  std::string path;
  std::string name;  // without its folder
  std::string text;
  std::set<std::string> sections;  // keys at the beginning of a line
  bool has(std::initializer_list<const char*> keys) const;
  bool says(const char* word) const { return text.find(word) != std::string::npos; }
  bool says_outside_comments(const std::string& word) const;  // of YAML: from # on
  bool ends(const char* suffix) const;                        // whatever its case
  bool is_yaml() const { return ends(".yaml") || ends(".yml") || says("{{") || says("{%"); }
};

// What a file may be for a tool: "timeloop", "zigzag", "accelforge" or "scalesim".
struct FolderKind {
  const char* format;
  const char* name;
  bool (*is)(const FolderFile& file);
  bool leads = false;  // the others are found by it
};

std::vector<const FolderKind*> folder_kinds(const std::string& format);
// The first kind that a file fits; null: none.
const FolderKind* folder_kind_of(const FolderFile& file, const std::string& format);

FolderFile read_folder_file(const std::filesystem::path& path);

bool is_energy_table(const std::string& name);  // as the estimator calls it
// What the tools write themselves, by its name. A mapping that was found counts where it is to be
// compared.
bool is_written_by_tool(const std::string& name, bool compares);
bool is_output_folder(const std::string& name);
// A section of a design that says something: what the front end writes may be empty.
bool has_filled(const FolderFile& file, const char* section);

}  // namespace mapsim
