// SPDX-License-Identifier: Apache-2.0
#include "interop/folder_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/ascii.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 8 << 20;  // of a file that is looked at

constexpr bool kLeads = true;

constexpr std::array kFolderKinds{
    FolderKind{"timeloop", "design",
               [](const FolderFile& file) {
                 return file.is_yaml() && file.has({"architecture", "arch"}) &&
                        (file.has({"problem"}) || file.says_outside_comments("include"));
               },
               kLeads},
    FolderKind{
        "timeloop", "architecture",
        [](const FolderFile& file) { return file.is_yaml() && file.has({"architecture", "arch"}); },
        kLeads},
    FolderKind{"timeloop", "design (libconfig)",
               [](const FolderFile& file) { return file.ends(".cfg") && file.has({"arch"}); },
               kLeads},
    FolderKind{"timeloop", kFolderEnergies.data(),
               [](const FolderFile& file) { return file.is_yaml() && file.has({"ERT"}); }},
    FolderKind{"timeloop", "problem",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"problem"}); }},
    FolderKind{"timeloop", "mapping",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"mapping"}); }},
    FolderKind{"timeloop", "constraints of the architecture",
               [](const FolderFile& file) {
                 return file.is_yaml() && file.has({"architecture_constraints"});
               }},
    FolderKind{"timeloop", "constraints of the mapspace",
               [](const FolderFile& file) {
                 return file.is_yaml() &&
                        file.has({"mapspace_constraints", "mapspace", "constraints"});
               }},
    FolderKind{"timeloop", "mapper",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"mapper"}); }},
    FolderKind{"timeloop", "sparse optimizations",
               [](const FolderFile& file) {
                 return file.is_yaml() && file.has({"sparse_optimizations"});
               }},
    FolderKind{"accelforge", "architecture",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"arch"}); }, kLeads},
    FolderKind{"accelforge", "workload",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"workload"}); }},
    FolderKind{"accelforge", "mapping",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"mapping"}); }},
    FolderKind{"accelforge", "renames",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"renames"}); }},
    FolderKind{"accelforge", "variables",
               [](const FolderFile& file) { return file.is_yaml() && file.has({"variables"}); }},
    FolderKind{
        "zigzag", "chip",
        [](const FolderFile& file) { return file.is_yaml() && file.has({"core_connectivity"}); },
        kLeads},
    FolderKind{"zigzag", "accelerator",
               [](const FolderFile& file) {  // not a core of a chip, which says its type
                 return file.is_yaml() && file.has({"operational_array"}) && !file.has({"type"});
               },
               kLeads},
    FolderKind{"zigzag", "workload",
               [](const FolderFile& file) {
                 return file.ends(".onnx") ||
                        (file.is_yaml() && file.says("operator_type:") && file.says("equation:"));
               }},
    FolderKind{"zigzag", "mapping",
               [](const FolderFile& file) {
                 return file.is_yaml() &&
                        (file.says("spatial_mapping") || file.says("memory_operand_links"));
               }},
    FolderKind{"zigzag", "result",
               [](const FolderFile& file) {
                 return file.ends(".json") && file.says("\"temporal_mapping\"");
               }},
    FolderKind{"scalesim", "configuration",
               [](const FolderFile& file) { return file.ends(".cfg") && file.says("[general]"); },
               kLeads},
    FolderKind{"scalesim", "topology", [](const FolderFile& file) {
                 const std::string head = lower_case(file.text.substr(0, file.text.find('\n')));
                 return file.ends(".csv") && head.find("intraline") == std::string::npos &&
                        head.find("layerid") == std::string::npos &&  // a report
                        (head.find("layer") != std::string::npos || head.starts_with("l,m,n,k"));
               }}};

std::set<std::string> sections_of(const std::string& text) {
  std::set<std::string> sections;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
      ++end;
    }
    const std::string word = text.substr(begin, end - begin);
    end = std::min(text.find_first_not_of(" \t", end), text.size());
    if (!word.empty() && end < text.size() && (text[end] == ':' || text[end] == '=')) {
      sections.insert(word);
    }
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  return sections;
}

}  // namespace

bool FolderFile::has(std::initializer_list<const char*> keys) const {
  return std::any_of(keys.begin(), keys.end(),
                     [this](const char* key) { return sections.contains(key); });
}

bool FolderFile::says_outside_comments(const std::string& word) const {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t before = text.find_last_of("\n#", at);
    if (before == std::string::npos || text[before] == '\n') {
      return true;
    }
  }
  return false;
}

bool FolderFile::ends(const char* suffix) const { return lower_case(name).ends_with(suffix); }

std::vector<const FolderKind*> folder_kinds(const std::string& format) {
  std::vector<const FolderKind*> kinds;
  for (const FolderKind& kind : kFolderKinds) {
    if (kind.format == format) {
      kinds.push_back(&kind);
    }
  }
  return kinds;
}

const FolderKind* folder_kind_of(const FolderFile& file, const std::string& format) {
  const auto* kind =
      std::find_if(kFolderKinds.begin(), kFolderKinds.end(),
                   [&](const FolderKind& each) { return each.format == format && each.is(file); });
  return kind == kFolderKinds.end() ? nullptr : kind;
}

bool is_energy_table(const std::string& name) {
  return name.ends_with(".ERT.yaml") || name == "ERT.yaml";
}

bool is_written_by_tool(const std::string& name, bool compares) {
  constexpr std::array kBeginnings{"timeloop-m", "flattened_architecture", "tmp-accelergy", "ART",
                                   "ERT_"};
  const bool wanted = is_energy_table(name) || (compares && name.ends_with(".map.yaml"));
  return !wanted && std::any_of(kBeginnings.begin(), kBeginnings.end(),
                                [&](const char* beginning) { return name.starts_with(beginning); });
}

bool has_filled(const FolderFile& file, const char* section) {
  const std::size_t at = ("\n" + file.text).find(fmt::format("\n{}:", section));
  const std::size_t end = at + std::string_view{section}.size() + 1;
  return at != std::string::npos && !std::string_view{file.text}.substr(end).starts_with(" []");
}

bool is_output_folder(const std::string& name) {
  return name == "out_dir" || name == "stats" || name.ends_with("output") ||
         name.ends_with("outputs") || name.starts_with(".");
}

FolderFile read_folder_file(const fs::path& path) {
  FolderFile file{path.string(), path.filename().string(), "", {}};
  std::error_code failure;
  if (!file.ends(".onnx") && fs::file_size(path, failure) <= kMostBytes && !failure) {
    std::ifstream in{path, std::ios::binary};
    file.text.assign(std::istreambuf_iterator<char>{in}, {});
  }
  file.sections = sections_of(file.text);
  return file;
}

}  // namespace mapsim
