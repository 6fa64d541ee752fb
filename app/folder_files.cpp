// SPDX-License-Identifier: Apache-2.0
#include "app/folder_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "app/arguments.hpp"
#include "core/lower_case.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 50'000;      // looked at in a folder
constexpr std::uintmax_t kMostBytes = 8 << 20;  // of one of them
constexpr std::size_t kListed = 6;              // files of a kind in a message
constexpr std::size_t kTried = 24;              // commands
constexpr std::size_t kShown = 4;
constexpr std::string_view kEnergies = "energies (ERT)";

struct FolderFile {
  std::string path;
  std::string name;  // without its folder
  std::string text;
  std::set<std::string> sections;  // keys at the beginning of a line
  bool has(std::initializer_list<const char*> keys) const {
    return std::any_of(keys.begin(), keys.end(),
                       [this](const char* key) { return sections.contains(key); });
  }
  bool says(const char* word) const { return text.find(word) != std::string::npos; }
  bool ends(const char* suffix) const { return lower_case(name).ends_with(suffix); }
  bool is_yaml() const { return ends(".yaml") || ends(".yml") || says("{{") || says("{%"); }
};

struct FolderKind {
  const char* format;
  const char* name;
  bool (*is)(const FolderFile& file);
  bool leads = false;  // the others are found by it
};
constexpr bool kLeads = true;

// A file is of the first kind that it fits.
constexpr std::array kFolderKinds{
    FolderKind{"timeloop", "design",
               [](const FolderFile& file) {
                 return file.is_yaml() && file.has({"architecture", "arch"}) &&
                        (file.has({"problem"}) || file.says("include"));
               },
               kLeads},
    FolderKind{
        "timeloop", "architecture",
        [](const FolderFile& file) { return file.is_yaml() && file.has({"architecture", "arch"}); },
        kLeads},
    FolderKind{"timeloop", "design (libconfig)",
               [](const FolderFile& file) { return file.ends(".cfg") && file.has({"arch"}); },
               kLeads},
    FolderKind{"timeloop", kEnergies.data(),
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

bool is_table(const std::string& name) { return name.ends_with(".ERT.yaml") || name == "ERT.yaml"; }

// What the tools write themselves, and parts that only templates include.
// A mapping that was found counts where it is to be compared.
bool is_written(const std::string& name, bool compares) {
  constexpr std::array kBeginnings{"timeloop-m", "flattened_architecture", "tmp-accelergy", "ART",
                                   "ERT_"};
  const bool wanted = is_table(name) || (compares && name.ends_with(".map.yaml"));
  return !wanted && std::any_of(kBeginnings.begin(), kBeginnings.end(),
                                [&](const char* beginning) { return name.starts_with(beginning); });
}

// A section of a design that says something: what the front end writes may be empty.
bool has_filled(const FolderFile& file, const char* section) {
  const std::size_t at = ("\n" + file.text).find(fmt::format("\n{}:", section));
  const std::size_t end = at + std::string_view{section}.size() + 1;
  return at != std::string::npos && !std::string_view{file.text}.substr(end).starts_with(" []");
}

bool is_output_folder(const std::string& name) {
  return name == "out_dir" || name == "stats" || name.ends_with("output") ||
         name.ends_with("outputs") || name.starts_with(".");
}

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

FolderFile read_file(const fs::path& path) {
  FolderFile file{path.string(), path.filename().string(), "", {}};
  std::error_code failure;
  if (!file.ends(".onnx") && fs::file_size(path, failure) <= kMostBytes && !failure) {
    std::ifstream in{path, std::ios::binary};
    file.text.assign(std::istreambuf_iterator<char>{in}, {});
  }
  file.sections = sections_of(file.text);
  return file;
}

using Kinds = std::vector<std::pair<const FolderKind*, std::vector<std::string>>>;

const FolderKind* kind_of(const FolderFile& file, const std::string& format) {
  const auto* kind =
      std::find_if(kFolderKinds.begin(), kFolderKinds.end(),
                   [&](const FolderKind& each) { return each.format == format && each.is(file); });
  return kind == kFolderKinds.end() ? nullptr : kind;
}

class Folder {
 public:
  Folder(std::string path, const FolderRequest& request)
      : path_{std::move(path)}, request_{request} {
    for (const FolderKind& kind : kFolderKinds) {
      if (kind.format == request.format) {
        kinds_.emplace_back(&kind, std::vector<std::string>{});
      }
    }
    look();
  }

  // A design includes its parts, or has them.
  void leave_out(const std::vector<const FolderKind*>& given) {
    const auto named = [](const FolderKind& kind, std::string_view name) {
      return kind.name == name;
    };
    const auto designs = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& each) {
      return named(*each.first, "design") && !each.second.empty();
    });
    const bool design = designs != kinds_.end();
    has_energies_ = request_.has_energies ||
                    std::any_of(given.begin(), given.end(),
                                [&](const FolderKind* kind) { return named(*kind, kEnergies); });
    if (design) {  // what lies beside it may be its table and its mapping
      const fs::path beside = fs::path{designs->second.front()}.parent_path();
      for (auto& [kind, files] : kinds_) {
        if (!kind->leads) {
          std::erase_if(files, [&](const std::string& each) {
            return fs::path{each}.parent_path() != beside;
          });
        }
      }
    }
    std::erase_if(kinds_, [&](const auto& each) {
      // A mapper says what is best, nothing of the design
      const bool vague = (named(*each.first, "mapper") && each.second.size() > 1) ||
                         (named(*each.first, kEnergies) && has_energies_);
      const bool part = design && !named(*each.first, "design") &&
                        (own_table_ || !named(*each.first, kEnergies)) &&
                        (own_mapping_ || !named(*each.first, "mapping"));
      const bool known = std::any_of(given.begin(), given.end(), [&](const FolderKind* kind) {
        return kind == each.first || (kind->leads && each.first->leads);
      });
      return each.second.empty() || part || known || vague;
    });
  }

  bool is_unique() const {
    return !kinds_.empty() && std::all_of(kinds_.begin(), kinds_.end(),
                                          [](const auto& each) { return each.second.size() == 1; });
  }

  std::vector<std::string> only() const {
    std::vector<std::string> files;
    for (const auto& each : kinds_) {
      add(files, *each.first, each.second.front());
    }
    return files;
  }

  // Tables of energies that lie in folders of output, where none is read.
  std::vector<std::string> unread_tables() const {
    const bool any = has_energies_ || own_table_ ||
                     std::any_of(kinds_.begin(), kinds_.end(),
                                 [](const auto& each) { return each.first->name == kEnergies; });
    return any ? std::vector<std::string>{} : written_tables_;
  }

  [[noreturn]] void refuse(const std::vector<std::string>& given) const {
    if (kinds_.empty()) {
      throw UsageError(fmt::format("{} has no file that '{}' reads", path_, request_.command));
    }
    std::string message =
        fmt::format("{} has several files of a kind; name those that belong together:", path_);
    for (const auto& [kind, files] : kinds_) {
      message += fmt::format("\n  {} ({}):", kind->name, files.size());
      for (std::size_t i = 0; i < std::min(files.size(), kListed); ++i) {
        message += fmt::format(" {}", files[i]);
      }
      message += files.size() > kListed ? " ..." : "";
    }
    throw UsageError(message + commands(given));
  }

 private:
  void look() {
    std::vector<std::string> paths;
    std::error_code failure;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at{path_, options, failure}, end;
         !failure && at != end && paths.size() < kMostFiles; at.increment(failure)) {
      const std::string name = at->path().filename().string();
      std::error_code ignored;
      if (at->is_directory(ignored) && is_output_folder(name)) {
        at.disable_recursion_pending();
        note_tables(at->path());
      } else if (at->is_regular_file(ignored) &&
                 !is_written(name, request_.command.starts_with("compare"))) {
        paths.push_back(at->path().string());
      }
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      const FolderFile file = read_file(path);
      if (const FolderKind* kind = kind_of(file, request_.format)) {
        if (kind->name == std::string_view{"design"}) {
          own_table_ = own_table_ || has_filled(file, "ERT");
          own_mapping_ = own_mapping_ || has_filled(file, "mapping");
        }
        std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& each) {
          return each.first == kind;
        })->second.push_back(path);
      }
    }
  }

  void note_tables(const fs::path& output) {
    std::error_code failure;
    for (fs::directory_iterator at{output, failure}, end;
         !failure && at != end && request_.format == "timeloop"; at.increment(failure)) {
      if (is_table(at->path().filename().string())) {
        written_tables_.push_back(at->path().string());
      }
    }
  }

  // A table of energies comes with that of areas, if the estimator has written one beside it.
  static void add(std::vector<std::string>& files, const FolderKind& kind,
                  const std::string& path) {
    files.push_back(path);
    const fs::path file{path};
    std::string name = file.filename().string();
    const std::size_t at = name.rfind("ERT");
    if (kind.name == kEnergies && at != std::string::npos) {
      const fs::path areas = file.parent_path() / name.replace(at, 3, "ART");
      std::error_code failure;
      if (fs::is_regular_file(areas, failure)) {
        files.push_back(areas.string());
      }
    }
  }

  // How likely two files belong together: by their folders and names.
  static std::size_t nearness(const std::string& a, const std::string& b) {
    const fs::path one{a}, other{b};
    const auto common = [](const std::string& x, const std::string& y) {
      return static_cast<std::size_t>(std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first -
                                      x.begin());
    };
    return common(a, b) + 2 * common(one.stem().string(), other.stem().string());
  }

  // Whether one of the two lies in the other's folder or further in: a table of energies in a
  // folder beside is another design's.
  static bool is_in_line(const std::string& a, const std::string& b) {
    const std::string one = (fs::path{a}.parent_path() / "").string();
    const std::string other = (fs::path{b}.parent_path() / "").string();
    return one.starts_with(other) || other.starts_with(one);
  }

  // Of each kind the nearest file; of those that lead, `leader` alone; of the second kind any of
  // the nearest.
  std::vector<std::string> set_of(const std::string& leader, std::size_t second,
                                  bool& choices) const {
    std::vector<std::string> files{leader};
    for (const auto& [kind, some] : kinds_) {
      if (kind->leads) {
        continue;
      }
      std::vector<std::string> sorted = some;
      std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
        return nearness(leader, a) > nearness(leader, b);
      });
      if (kind->name == kEnergies) {
        std::erase_if(sorted, [&](const auto& each) { return !is_in_line(leader, each); });
        choices = choices || sorted.size() > 1;
      }
      if (sorted.empty()) {
        continue;
      }
      add(files, *kind, sorted[std::min(second, sorted.size() - 1)]);
      second = 0;
    }
    return files;
  }

  std::string commands(const std::vector<std::string>& given) const {
    std::vector<std::vector<std::string>> sets;
    bool choices = false;  // of tables of energies
    for (std::size_t second = 0; second < 2; ++second) {
      for (const auto& [kind, files] : kinds_) {
        for (const std::string& leader : files) {
          if (kind->leads) {
            sets.push_back(set_of(leader, second, choices));
            sets.push_back({leader});
          }
        }
      }
    }
    const bool led_by_none = sets.empty();  // a leader was given, or there is none
    for (const auto& [kind, files] : kinds_) {
      for (std::size_t i = 0; led_by_none && i < files.size(); ++i) {
        sets.push_back({files[i]});
      }
    }
    std::string text;
    std::string why;
    std::set<std::vector<std::string>> seen;
    std::set<std::string> led;
    for (const std::vector<std::string>& set : sets) {
      if (seen.size() == kTried || led.size() == kShown) {
        break;
      }
      if (led.contains(set.front()) || !seen.insert(set).second) {
        continue;
      }
      std::vector<std::string> all = given;
      all.insert(all.end(), set.begin(), set.end());
      const std::string failure = request_.why_not(all);
      if (failure.empty()) {
        led.insert(set.front());
        text +=
            fmt::format("\n  mapsim {} {}{}", request_.command, fmt::join(all, " "), request_.rest);
      } else if (why.empty()) {
        why = failure;
      }
    }
    if (choices && !text.empty()) {
      text +=
          "\nwhere several tables of energies lie about a design, these commands name the one "
          "that is nearest by its path; take the one that was made for it";
    }
    return text.empty()
               ? fmt::format("\nnone of {} pairings that were tried can be read; the first: {}",
                             seen.size(), why)
               : "\nfor example" + text;
  }

  std::string path_;
  const FolderRequest& request_;
  Kinds kinds_;
  std::vector<std::string> written_tables_;  // of energies, in folders of output
  bool has_energies_ = false;                // without those of the folder
  bool own_table_ = false;                   // of a design
  bool own_mapping_ = false;
};

}  // namespace

FolderFiles files_of_folders(const std::vector<std::string>& arguments,
                             const FolderRequest& request) {
  FolderFiles found;
  std::vector<std::string> folders;
  std::vector<const FolderKind*> given;
  for (const std::string& argument : arguments) {
    std::error_code failure;
    if (fs::is_directory(argument, failure)) {
      folders.push_back(argument);
      continue;
    }
    found.files.push_back(argument);
  }
  if (folders.empty()) {
    return found;
  }
  for (const std::string& file : found.files) {
    if (const FolderKind* kind = kind_of(read_file(file), request.format)) {
      given.push_back(kind);
    }
  }
  const std::vector<std::string> named = found.files;
  for (const std::string& path : folders) {
    Folder folder{path, request};
    folder.leave_out(given);
    if (!folder.is_unique()) {
      folder.refuse(named);
    }
    const std::vector<std::string> files = folder.only();
    std::vector<std::string> names;  // in the folder
    for (const std::string& file : files) {
      names.push_back(fs::path{file}.lexically_relative(path).string());
    }
    found.notes.push_back(fmt::format("{}: read as {}", path, fmt::join(names, " ")));
    if (const std::vector<std::string> tables = folder.unread_tables(); !tables.empty()) {
      found.notes.push_back(
          fmt::format("no energies were read; --ert FILE takes a table, as the tool wrote it to {}",
                      fmt::join(tables, ", ")));
    }
    found.files.insert(found.files.end(), files.begin(), files.end());
  }
  return found;
}

}  // namespace mapsim
