// SPDX-License-Identifier: Apache-2.0
#include "core/shipped.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "core/ascii.hpp"
#include "core/text_stream.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

// Something that can be read: a folder is not, a pipe is.
bool is_file(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  return type != fs::file_type::directory && type != fs::file_type::not_found &&
         type != fs::file_type::none;
}

// Not a name: from the root or a folder of the user's, or with an ending.
bool is_written_as_path(const std::string& name) {
  return name.empty() || name.front() == '/' || name.front() == '.' ||
         fs::path{name}.has_extension() || name.find(':') != std::string::npos;
}

// Kinds whose names stand for files of this one, too: a chain may take the place of a layer.
std::vector<FileKind> kinds_named_as(FileKind kind) {
  return kind == FileKind::kWorkload ? std::vector{kind, FileKind::kChain} : std::vector{kind};
}

// Folders of configs/ with files of a kind. The mapping of a chain is a tree.
Words folders_with(FileKind kind) {
  return kind == FileKind::kMapping ? Words{folder_of(kind), "trees"} : Words{folder_of(kind)};
}

Words folders_named_as(FileKind kind) {
  Words folders;
  for (const FileKind each : kinds_named_as(kind)) {
    std::ranges::copy(folders_with(each), std::back_inserter(folders));
  }
  return folders;
}

}  // namespace

std::vector<std::string> configs_above(const std::string& place) {
  std::vector<std::string> folders;
  for (fs::path at{place}; at.has_relative_path(); at = at.parent_path()) {
    for (const char* const configs : {"configs", "share/mapsim/configs"}) {
      std::error_code error;
      if (fs::is_directory(at / configs / "arch", error)) {
        folders.push_back((at / configs).string());
      }
    }
  }
  return folders;
}

std::string find_shipped(const std::string& path, FileKind kind,
                         const std::vector<std::string>& configs) {
  constexpr std::string_view kConfigs = "configs/";
  const bool below_configs = path.starts_with(kConfigs);
  if (is_file(path) || (!below_configs && is_written_as_path(path))) {
    return path;
  }
  for (const std::string& root : configs) {
    if (const fs::path file = fs::path{root} / path.substr(below_configs ? kConfigs.size() : 0);
        below_configs && is_file(file)) {
      return file.string();
    }
    for (const std::string& folder : folders_named_as(kind)) {
      if (const fs::path file = fs::path{root} / folder / (path + ".yaml"); is_file(file)) {
        return file.string();
      }
    }
  }
  return path;
}

std::string find_named(const std::string& folder, const std::string& name, FileKind kind,
                       const std::vector<std::string>& configs) {
  const std::string beside = (fs::path{folder} / name).string();
  if (is_file(beside)) {
    return beside;
  }
  const std::string shipped = find_shipped(name, kind, configs);
  return shipped == name ? beside : shipped;
}

Words shipped_names(FileKind kind, const std::vector<std::string>& configs) {
  Words names;
  for (const std::string& root : configs) {
    for (const std::string& below : folders_with(kind)) {
      const fs::path folder = fs::path{root} / below;
      std::error_code error;
      for (const auto& entry : fs::recursive_directory_iterator{folder, error}) {
        if (entry.path().extension() == ".yaml") {
          names.push_back(entry.path().lexically_relative(folder).replace_extension().string());
        }
      }
      require_memory(error);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

namespace {

constexpr std::size_t kMostNear = 4;

// What someone who wrote `name` may mean: the nearest of all names, those that it begins ("a100" is
// a100_40gb or a100_80gb), those that begin as it does ("a100_sxm"), or else a layer without its
// network.
Words near_names(const std::string& written, const Words& names) {
  const std::string name = lower_case(written);  // people write H100
  const auto beginning_with = [&](const std::string& head) {
    Words found;
    std::ranges::copy_if(names, std::back_inserter(found),
                         [&head](const std::string& each) { return each.starts_with(head); });
    return found.size() <= kMostNear ? found : Words{};
  };
  const auto nearest = nearest_word(name, names);
  Words near = nearest ? Words{*nearest} : Words{};
  const auto has_nearest = [&](const Words& words) {
    return nearest && std::ranges::find(words, *nearest) != words.end();
  };
  const std::size_t end = name.find('_');
  if (const Words longer = beginning_with(name); !longer.empty() && !has_nearest(longer)) {
    return longer;
  }
  if (end != std::string::npos && end > 2) {
    const Words alike = beginning_with(name.substr(0, end + 1));
    if (!has_nearest(alike)) {
      near.insert(near.end(), alike.begin(), alike.end());
    }
  }
  const std::string last = name.substr(name.rfind('/') + 1);
  for (const std::string& each : names) {
    if (near.empty() && each.substr(each.rfind('/') + 1) == last) {
      near = {each};
    }
  }
  return near;
}

}  // namespace

std::string unknown_name(const std::string& name, FileKind kind,
                         const std::vector<std::string>& configs, const std::string& lister) {
  if (is_written_as_path(name)) {
    return "";
  }
  Words names;
  for (const FileKind each : kinds_named_as(kind)) {
    std::ranges::copy(shipped_names(each, configs), std::back_inserter(names));
  }
  for (const FileKind other :
       {FileKind::kArch, FileKind::kWorkload, FileKind::kMapping, FileKind::kConstraints,
        FileKind::kNetwork, FileKind::kChain, FileKind::kCampaign, FileKind::kSoc}) {
    if (const Words others = shipped_names(other, configs); std::ranges::count(others, name) > 0) {
      return fmt::format(
          "no such file; that is the name of {}, and {} is needed here; {} shows all",
          name_of(other), name_of(kind), lister);
    }
  }
  const Words near = near_names(name, names);
  return fmt::format("no such file, and {} of that name is not shipped; {}", name_of(kind),
                     near.empty() ? fmt::format("{} shows what is", lister)
                                  : fmt::format("did you mean '{}'?", fmt::join(near, "' or '")));
}

}  // namespace mapsim
