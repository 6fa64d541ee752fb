// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/places.hpp"
#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "core/edit_distance.hpp"
#include "core/shipped.hpp"
#include "core/shipped_kinds.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "workloads/load.hpp"
#include "workloads/network.hpp"

namespace mapsim {

namespace {

std::string machine_text(const Arch& arch) {
  std::string levels;
  for (const Storage& level : arch.levels) {
    levels += (levels.empty() ? "" : ", ") + level.name;
  }
  return fmt::format("{} MAC unit{}; {}", grouped(arch.mac_units()),
                     arch.mac_units() == 1 ? "" : "s", levels);
}

std::string gpu_text(const Gpu& gpu) {
  return fmt::format("{} SMs, compute capability {}.{}", gpu.sms, gpu.compute_capability / 10,
                     gpu.compute_capability % 10);
}

std::string layer_text(const Workload& layer) {
  std::string dims;
  for (const Dim& dim : layer.dims) {
    dims += fmt::format("{}{} {}", dims.empty() ? "" : "; ", dim.name, dim.bound);
  }
  return fmt::format("{} MACs; {}", grouped(layer.macs()), dims);
}

// In a few words; `names`: nothing is said, and as little as can be is read. Nullopt: an
// architecture of the other kind.
std::optional<std::string> text_of(const ShippedKind& kind, const std::string& path, bool names) {
  if (kind.files == FileKind::kArch) {
    const Document document = read_yaml(path);
    const bool gpu = describes_gpu(document);
    if (gpu != (kind.name == "gpus")) {
      return std::nullopt;
    }
    return names ? "" : gpu ? gpu_text(read_gpu(document)) : machine_text(read_arch(document));
  }
  if (!names && kind.files == FileKind::kWorkload) {
    return layer_text(load_workload(path));
  }
  if (!names && kind.files == FileKind::kNetwork) {
    const Network network = load_network(path);
    return fmt::format("{} MACs; {} distinct layers", grouped(network.macs()),
                       network.layers.size());
  }
  return "";
}

std::vector<ListedFile> shipped_of(const ShippedKind& kind, bool names) {
  const std::vector<std::string> configs = shipped_configs();
  std::vector<ListedFile> all;
  for (const std::string& name : shipped_names(kind.files, configs)) {
    if (auto text = text_of(kind, find_shipped(name, kind.files, configs), names)) {
      all.push_back({std::string{kind.name}, name, std::move(*text)});
    }
  }
  return all;
}

std::string section_text(const ShippedKind& kind, const std::vector<ListedFile>& all) {
  std::string text = fmt::format("{}:\n", kind.name);
  for (const ListedFile& entry : all) {
    text += entry.what.empty() ? fmt::format("  {}\n", entry.name)
                               : fmt::format("  {:<40}  {}\n", entry.name, entry.what);
  }
  return text;
}

// The schema by its path in place of one that is relative to the folder of the file at `path`.
std::string with_schema_in_place(std::string text, const std::string& path) {
  constexpr std::string_view kSchema = "$schema=";
  const std::size_t at = text.find(kSchema);
  if (at == std::string::npos) {
    return text;
  }
  const std::size_t begin = at + kSchema.size();
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  const auto folder = std::filesystem::absolute(path).parent_path();
  const auto schema = (folder / text.substr(begin, end - begin)).lexically_normal();
  return text.replace(begin, end - begin, schema.string());
}

// Shipped layers by their names, which hold in any folder, in place of "../workloads/NAME.yaml".
std::string with_names_of_layers(std::string text) {
  constexpr std::string_view kFolder = "../workloads/", kEnding = ".yaml";
  for (std::size_t at = text.find(kFolder); at != std::string::npos; at = text.find(kFolder, at)) {
    text.erase(at, kFolder.size());
    at = text.find(kEnding, at);
    text.erase(std::min(at, text.size()), kEnding.size());
  }
  return text;
}

// The text of a shipped file, which the remark names.
Answer file_of(const ListArguments& arguments) {
  if (arguments.output.json || arguments.names) {
    throw UsageError("NAME: its file is printed as it is, without --json or --names");
  }
  const auto* const kind =
      std::ranges::find(kShippedKinds, std::string_view{arguments.kind}, &ShippedKind::name);
  const std::vector<std::string> configs = shipped_configs();
  Words names;
  for (const ListedFile& entry : shipped_of(*kind, true)) {
    names.push_back(entry.name);
  }
  if (std::ranges::find(names, arguments.name) == names.end()) {
    throw UsageError(fmt::format("NAME: none of the {} is called {}{}", arguments.kind,
                                 quoted(arguments.name), suggestion(arguments.name, names)));
  }
  const std::string path = find_shipped(arguments.name, kind->files, configs);
  const std::string text = with_names_of_layers(with_schema_in_place(read_text(path), path));
  return {kDone, text, "this is the shipped file " + path};
}

}  // namespace

Answer run(const ListArguments& arguments) {
  if (!arguments.name.empty()) {
    return file_of(arguments);
  }
  Answer answer;
  std::vector<ListedFile> files;
  for (const ShippedKind& kind : kShippedKinds) {
    if (!arguments.kind.empty() && arguments.kind != kind.name) {
      continue;
    }
    const std::vector<ListedFile> all = shipped_of(kind, arguments.names);
    files.insert(files.end(), all.begin(), all.end());
    if (arguments.names) {
      for (const ListedFile& entry : all) {
        answer.text += entry.name + "\n";
      }
    } else if (!all.empty()) {
      answer.text += (answer.text.empty() ? "" : "\n") + section_text(kind, all);
    }
  }
  if (answer.text.empty()) {
    throw UsageError("the folder configs/ of mapsim is neither here nor beside the program");
  }
  if (arguments.output.json) {
    answer.text = list_json(files);
  }
  return answer;
}

}  // namespace mapsim
