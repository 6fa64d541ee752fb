// SPDX-License-Identifier: Apache-2.0
#include "check/sealed_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/hash.hpp"

namespace mapsim::check {

namespace {

constexpr std::string_view kDigest = "digest: ";

}  // namespace

std::string seal(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of('\n'), text.size());
  return fmt::format("{}{:016x}\n", kDigest, fnv1a(text.substr(begin)));
}

void check_seal(const Document& document) {
  Reader reader{document};
  const std::size_t last = document.text.rfind('\n' + std::string{kDigest});
  if (last == std::string::npos) {
    reader.error(document.root, "not a whole certificate: it ends without its digest");
  } else if (document.text.back() != '\n') {
    reader.error(document.root.entries.back().value, "the file has been changed: it was cut short");
  } else if (const std::string sealed = document.text.substr(0, last + 1);
             document.text.substr(last + 1) != seal(sealed)) {
    const Entry& entry = document.root.entries.back();
    reader.error(entry.value, fmt::format("the file has been changed: its lines above have the {}",
                                          seal(sealed).substr(0, seal(sealed).size() - 1)));
  }
  reader.finish();
}

const Entry* entry_of(const Node& map, std::string_view key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(),
                                  [key](const Entry& entry) { return entry.key.text == key; });
  return found == map.entries.end() ? nullptr : &*found;
}

std::string cut_out(const Document& document, int first, int end) {
  std::string lines;
  int number = 1;
  for (std::size_t begin = 0; begin < document.text.size(); ++number) {
    const std::size_t stop = std::min(document.text.find('\n', begin), document.text.size());
    if (number >= first && (end == 0 || number < end)) {
      lines.append(document.text, begin, stop - begin);
    }
    lines += '\n';
    begin = stop + 1;
  }
  return lines;
}

int line_behind(const Document& document, int line) {
  for (const Entry& entry : document.root.entries) {
    if (entry.key.line > line) {
      return entry.key.line;
    }
  }
  return 0;
}

std::string value_of(const Document& document, std::string_view key) {
  const int line = entry_of(document.root, key)->key.line;
  return cut_out(document, line + 1, line_behind(document, line));
}

std::string lines_of(const Document& document, std::string_view key) {
  std::string lines = value_of(document, key);
  lines.erase(0, lines.find_first_not_of('\n'));
  lines.erase(lines.find_last_not_of('\n') + 1);
  return lines + '\n';
}

}  // namespace mapsim::check
