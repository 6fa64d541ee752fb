// SPDX-License-Identifier: Apache-2.0
#include "app/size_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/files.hpp"
#include "core/document.hpp"
#include "core/quantity_text.hpp"

namespace mapsim {

namespace {

// "32 kb", "1.5 Mib": bits, after a prefix.
bool is_in_kilobits(std::string_view text) {
  constexpr std::string_view kPrefixes = "kKMGTi";
  return text.size() > 2 && text.front() >= '0' && text.front() <= '9' && text.back() == 'b' &&
         kPrefixes.find(text[text.size() - 2]) != std::string_view::npos;
}

void add_notes(const Document& document, const Node& node, std::string& notes) {
  const Parsed<Bits> size = parse_size(node.text);
  if (is_in_kilobits(node.text) && std::holds_alternative<Bits>(size)) {
    const auto bits = static_cast<double>(std::get<Bits>(size).count());
    notes += to_string(diagnose(document, node, 0,
                                fmt::format("note: b is bits, so '{}' is {} B; bytes are kB or KiB",
                                            node.text, bits / 8))) +
             "\n";
  }
  for (const Node& item : node.items) {
    add_notes(document, item, notes);
  }
  for (const Entry& entry : node.entries) {
    add_notes(document, entry.value, notes);
  }
}

}  // namespace

std::string size_notes(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return "";  // what a pipe held is gone
  }
  // Most files have none: they are not parsed a second time.
  const std::string text = read_text(path);
  const auto is_candidate = [](char before, char b) {
    return b == 'b' && std::string_view{"kMGTi"}.find(before) != std::string_view::npos;
  };
  if (std::adjacent_find(text.begin(), text.end(), is_candidate) == text.end()) {
    return "";
  }
  std::string notes;
  const Document document = parse_yaml(text, path);
  add_notes(document, document.root, notes);
  return notes;
}

}  // namespace mapsim
