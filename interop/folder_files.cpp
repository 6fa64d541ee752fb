// SPDX-License-Identifier: Apache-2.0
#include "interop/folder_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "core/ascii.hpp"
#include "interop/folder_kinds.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 50'000;  // looked at in a folder
constexpr std::size_t kListed = 6;          // files of a kind in a message
constexpr std::size_t kTried = 24;          // calls
constexpr std::size_t kShown = 4;

using Kinds = std::vector<std::pair<const FolderKind*, std::vector<std::string>>>;

class Folder {
 public:
  Folder(std::string path, const FolderRequest& request)
      : path_{std::move(path)}, request_{request} {
    for (const FolderKind* kind : folder_kinds(request.format)) {
      kinds_.emplace_back(kind, std::vector<std::string>{});
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
    const bool design = designs != kinds_.end() && leads_alone(designs->second.front());
    has_energies_ = request_.has_energies ||
                    std::any_of(given.begin(), given.end(), [&](const FolderKind* kind) {
                      return named(*kind, kFolderEnergies);
                    });
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
                         (named(*each.first, kFolderEnergies) && has_energies_);
      const bool part = design && !named(*each.first, "design") &&
                        (own_table_ || !named(*each.first, kFolderEnergies)) &&
                        (own_mapping_ || !named(*each.first, "mapping"));
      const bool known = std::any_of(given.begin(), given.end(), [&](const FolderKind* kind) {
        return kind == each.first || (kind->leads && each.first->leads);
      });
      if (part && each.first->leads && !each.second.empty()) {
        parts_ = each.second;
      } else if (part) {
        leave_aside(designs->second.front(), each.second);
      }
      return each.second.empty() || part || known || vague;
    });
  }

  bool is_unique() const {
    const auto leaders = std::count_if(kinds_.begin(), kinds_.end(),
                                       [](const auto& each) { return each.first->leads; });
    return !kinds_.empty() && leaders <= 1 &&
           std::all_of(kinds_.begin(), kinds_.end(),
                       [](const auto& each) { return each.second.size() == 1; });
  }

  std::vector<std::string> only() const {
    std::vector<std::string> files;
    for (const auto& each : kinds_) {
      add(files, *each.first, each.second.front());
    }
    return files;
  }

  bool has_parts() const { return !parts_.empty(); }

  // About files beside a design that it does not name.
  const std::vector<std::string>& notes() const { return notes_; }

  // Architectures that a template chooses by a name, where none was given.
  std::string choices(const Unread& why) const {
    if (parts_.empty() || !why.lacks_names) {
      return "";
    }
    return fmt::format(
        "{}\n  architectures ({}): {}{}", why.text, parts_.size(),
        fmt::join(parts_.begin(),
                  parts_.begin() + static_cast<std::ptrdiff_t>(std::min(parts_.size(), kListed)),
                  " "),
        parts_.size() > kListed ? " ..." : "");
  }

  // Tables of energies that lie in folders of output about what is read, where none is.
  std::vector<std::string> unread_tables() const {
    const bool any = has_energies_ || own_table_ ||
                     std::any_of(kinds_.begin(), kinds_.end(), [](const auto& each) {
                       return each.first->name == kFolderEnergies;
                     });
    std::vector<std::string> about = any ? std::vector<std::string>{} : written_tables_;
    const bool led = std::any_of(kinds_.begin(), kinds_.end(),
                                 [](const auto& each) { return each.first->leads; });
    std::erase_if(about, [&](const std::string& table) {
      return led && std::none_of(kinds_.begin(), kinds_.end(), [&](const auto& each) {
               return each.first->leads &&
                      is_in_line(each.second.front(), fs::path{table}.parent_path().string());
             });
    });
    return about;
  }

  [[noreturn]] void refuse(const std::vector<std::string>& given) const {
    if (kinds_.empty()) {
      throw std::invalid_argument{
          fmt::format("{} has no file that {} reads", path_, request_.reader)};
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
    throw std::invalid_argument{message + calls(given)};
  }

 private:
  void leave_aside(const std::string& design, const std::vector<std::string>& files) {
    const FolderFile text = read_folder_file(design);
    for (const std::string& file : files) {
      if (!text.says_outside_comments(fs::path{file}.filename().string())) {
        notes_.push_back(fmt::format("{}: {} does not name it; it is read only if that includes it",
                                     file, fs::path{design}.filename().string()));
      }
    }
  }

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
      } else if (at->is_regular_file(ignored) && !is_written_by_tool(name, request_.compares)) {
        paths.push_back(at->path().string());
      }
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      const FolderFile file = read_folder_file(path);
      if (const FolderKind* kind = folder_kind_of(file, request_.format)) {
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
      if (is_energy_table(at->path().filename().string())) {
        written_tables_.push_back(at->path().string());
      }
    }
  }

  // All others that could lead lie below the folder of a design: it is what they are parts of.
  bool leads_alone(const std::string& design) const {
    const std::string folder = (fs::path{design}.parent_path() / "").string();
    return std::all_of(kinds_.begin(), kinds_.end(), [&](const auto& each) {
      return !each.first->leads ||
             std::all_of(each.second.begin(), each.second.end(),
                         [&](const std::string& file) { return file.starts_with(folder); });
    });
  }

  // A table of energies comes with that of areas, if the estimator has written one beside it.
  static void add(std::vector<std::string>& files, const FolderKind& kind,
                  const std::string& path) {
    files.push_back(path);
    const fs::path file{path};
    std::string name = file.filename().string();
    const std::size_t at = name.rfind("ERT");
    if (kind.name == kFolderEnergies && at != std::string::npos) {
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
      if (kind->name == kFolderEnergies) {
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

  std::string calls(const std::vector<std::string>& given) const {
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
      const std::string failure = request_.why_not(all).text;
      if (failure.empty()) {
        led.insert(set.front());
        text += fmt::format("\n  {}", request_.call(all));
      } else if (why.empty()) {
        why = failure;
      }
    }
    if (choices && !text.empty()) {
      text +=
          "\nwhere several tables of energies lie about a design, these name the one "
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
  std::vector<std::string> parts_;           // architectures of a design
  bool has_energies_ = false;                // without those of the folder
  bool own_table_ = false;                   // of a design
  bool own_mapping_ = false;
  std::vector<std::string> notes_;
};

}  // namespace

std::string first_message(const ConfigError& error) {
  const Diagnostic& first = error.diagnostics().front();
  return fmt::format("{}{}: {}", first.file,
                     first.line > 0 ? fmt::format(":{}:{}", first.line, first.column) : "",
                     first.message);
}

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
    if (const FolderKind* kind = folder_kind_of(read_folder_file(file), request.format)) {
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
    if (folder.has_parts()) {
      std::vector<std::string> all = named;
      all.insert(all.end(), files.begin(), files.end());
      if (const std::string choices = folder.choices(request.why_not(all)); !choices.empty()) {
        throw std::invalid_argument{choices};
      }
    }
    std::vector<std::string> names;  // in the folder
    for (const std::string& file : files) {
      names.push_back(fs::path{file}.lexically_relative(path).string());
    }
    found.notes.push_back(fmt::format("{}: read as {}", path, fmt::join(names, " ")));
    found.notes.insert(found.notes.end(), folder.notes().begin(), folder.notes().end());
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
