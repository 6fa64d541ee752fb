// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace mapsim {

// A CSV file with a header, no quotes. Every row as column -> text.
using Row = std::map<std::string, std::string>;

inline std::vector<std::string> split_row(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream{line};
  for (std::string cell; std::getline(stream, cell, ',');) {
    cells.push_back(cell);
  }
  return cells;
}

inline std::vector<Row> read_table(const std::string& path) {
  std::ifstream file{path};
  std::vector<Row> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = split_row(line);
    if (header.empty()) {
      header = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < header.size(); ++i) {
      row[header[i]] = i < cells.size() ? cells[i] : "";
    }
    rows.push_back(row);
  }
  return rows;
}

// Reference data that is too large to ship; empty: none here, and the test says that it is skipped.
inline std::string goldens() {
  const char* folder = std::getenv("MAPSIM_GOLDENS");
  return folder == nullptr ? "" : folder;
}

}  // namespace mapsim
