// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mapsim {

namespace {

// Columns of a terminal, as fmt counts them when it pads: a byte for each that is missing.
std::size_t width_of(const std::string& cell) {
  return 2 * cell.size() - fmt::formatted_size("{:<{}}", cell, cell.size());
}

}  // namespace

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += "  ";
      line += i == 0 ? fmt::format("{:<{}}", row[i], widths[i])
                     : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string table_name(const std::string& name) {
  constexpr std::size_t kMost = 60;                 // bytes
  constexpr std::size_t kEnd = 24;                  // of these behind the gap
  const auto is_inside = [&name](std::size_t at) {  // of a character of UTF-8
    return (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U;
  };
  if (name.size() <= kMost) {
    return name;
  }
  std::size_t begin = kMost - kEnd - 3;
  while (begin > 0 && is_inside(begin)) {
    --begin;
  }
  std::size_t end = name.size() - kEnd;
  while (end < name.size() && is_inside(end)) {
    ++end;
  }
  return name.substr(0, begin) + "..." + name.substr(end);
}

}  // namespace mapsim
