// SPDX-License-Identifier: Apache-2.0
#include "mapsim/arch_file.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "core/file_kind.hpp"
#include "core/substitute.hpp"

namespace mapsim {

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
}

bool ArchFile::is_gpu() const { return describes_gpu(document_); }
Arch ArchFile::arch() const { return read_arch(document_); }
Gpu ArchFile::gpu() const { return read_gpu(document_); }
std::string ArchFile::yaml() const { return flow_text(document_.root); }

}  // namespace mapsim
