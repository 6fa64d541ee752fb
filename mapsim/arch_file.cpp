// SPDX-License-Identifier: Apache-2.0
#include "mapsim/arch_file.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/file_kind.hpp"
#include "core/substitute.hpp"

namespace mapsim {

namespace {

// Is a path that of a value, or of a part of it?
bool lies_in(const std::string& path, const std::string& value) {
  return path == value || path.starts_with(value + ".") || path.starts_with(value + "[");
}

// Is an error about a value, or about its key? That of an unknown key has the path of its node.
bool is_about(const Diagnostic& error, const std::string& value) {
  const std::size_t dot = value.rfind('.');
  return lies_in(error.path, value) ||
         (dot != std::string::npos && error.path == value.substr(0, dot) &&
          error.message.starts_with("unknown key '" + value.substr(dot + 1) + "'"));
}

}  // namespace

ArchFile::ArchFile(Document document) : document_{std::move(document)} {}

ArchFile ArchFile::load(const std::string& path) {
  return ArchFile{read_yaml(checked_file(path, {FileKind::kArch}))};
}

ArchFile ArchFile::parse(const std::string& text, const std::string& name) {
  return ArchFile{parse_yaml(text, name)};
}

void ArchFile::set(const std::string& path, const std::string& value) {
  const std::string first = path.substr(0, path.find_first_of(".["));
  const auto& entries = document_.root.entries;
  const bool whole = std::any_of(entries.begin(), entries.end(),
                                 [&](const Entry& entry) { return entry.key.text == first; });
  const std::string full = whole ? path : (is_gpu() ? "gpu." : "nodes.") + path;
  const Node node = parse_yaml(value, path).root;
  if (const std::optional<std::string> wrong = substitute(document_.root, full, node)) {
    throw std::invalid_argument{"'" + path + "': " + *wrong};
  }
  const std::string line = value.substr(0, value.find('\n'));
  const std::string place = path_of(document_, *find(document_.root, full));
  std::erase_if(settings_,
                [&place](const Setting& earlier) { return lies_in(earlier.place, place); });
  settings_.push_back({path, line, place});
}

// The error with what concerns a value that was set shown in its setting: the file has at that
// place what stood there before.
ConfigError ArchFile::in_settings(const ConfigError& error) const {
  std::vector<Diagnostic> all = error.diagnostics();
  for (Diagnostic& each : all) {
    const auto set = std::ranges::find_if(
        settings_, [&each](const Setting& setting) { return is_about(each, setting.place); });
    if (set != settings_.end()) {
      each.file = set->path;
      each.line = 1;
      each.column = 1;
      each.source = set->value;
    }
  }
  return ConfigError{std::move(all), error.unlisted()};
}

bool ArchFile::is_gpu() const { return describes_gpu(document_); }

Arch ArchFile::arch() const {
  try {
    return read_arch(document_);
  } catch (const ConfigError& error) {
    throw in_settings(error);
  }
}

Gpu ArchFile::gpu() const {
  try {
    return read_gpu(document_);
  } catch (const ConfigError& error) {
    throw in_settings(error);
  }
}

std::string ArchFile::yaml() const { return flow_text(document_.root); }

}  // namespace mapsim
