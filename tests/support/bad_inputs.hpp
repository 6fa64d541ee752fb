// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim {

// One case of a file of bad inputs. Such a file is made of cases
//   === NAME
//   INPUT
//   =>
//   EXPECTED TEXT OF THE ERROR
// where INPUT may also be OLD >>> NEW (each on its own lines): the input of the first case with OLD
// replaced by NEW, once.
struct BadInput {
  std::string name;
  std::string input;
  std::string expected;
};

inline void append_line(std::string& text, const std::string& line) {
  text += (text.empty() ? "" : "\n") + line;
}

inline std::vector<BadInput> read_bad_inputs(const std::string& file) {
  std::ifstream stream{source_path("tests/") + file};
  std::vector<BadInput> cases;
  std::string old;  // what an edit replaces
  std::string* part = nullptr;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), "", ""});
      part = &cases.back().input;
    } else if (line == ">>>") {
      old = std::move(cases.back().input);
      cases.back().input.clear();
    } else if (line == "=>") {
      if (!old.empty()) {
        std::string edited = cases.front().input;
        const std::size_t at = edited.find(old);
        EXPECT_NE(at, std::string::npos) << cases.back().name;
        cases.back().input = edited.replace(at, old.size(), cases.back().input);
        old.clear();
      }
      part = &cases.back().expected;
    } else if (part != nullptr) {
      append_line(*part, line);
    }
  }
  return cases;
}

// The text of the ConfigError that `read` throws; empty if it throws none.
template <class Read>
std::string error_text(const Read& read) {
  try {
    read();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// Every case of the file gives exactly its error; `parse` takes the text of an input.
template <class Parse>
void expect_errors(const std::string& file, std::size_t at_least, const Parse& parse) {
  const std::vector<BadInput> cases = read_bad_inputs(file);
  EXPECT_GE(cases.size(), at_least);
  for (const BadInput& bad : cases) {
    EXPECT_EQ(error_text([&] { parse(bad.input + "\n"); }), bad.expected) << bad.name;
  }
}

// `text` cut anywhere, and with bytes of it changed: `parse` gives a value or a ConfigError, and
// nothing else happens.
template <class Parse>
void expect_survival(const std::string& text, const Parse& parse) {
  for (std::size_t length = 0; length < text.size(); ++length) {
    error_text([&] { parse(text.substr(0, length)); });
  }
  Rng rng{11};
  const std::string alphabet = "012 9:-+[]{},\n\"'&*a~";
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (std::uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
      damaged[rng.below(damaged.size())] = alphabet[rng.below(alphabet.size())];
    }
    error_text([&] { parse(damaged); });
  }
}

// A table of lines of cells without quoted commas, cut in every way: no lines, the first ones only,
// a row that ends early or goes on, a column less everywhere. As above.
template <class Parse>
void expect_survival_of_cuts(const std::string& table, const Parse& parse) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines{table};
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells{line};
    for (std::string cell; std::getline(cells, cell, ',');) {
      rows.back().push_back(cell);
    }
  }
  const auto survive = [&parse](const std::vector<std::vector<std::string>>& cut) {
    std::string text;
    for (const auto& row : cut) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        text += (i == 0 ? "" : ",") + row[i];
      }
      text += '\n';
    }
    error_text([&] { parse(text); });
  };
  error_text([&] { parse(std::string{}); });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    survive({rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i)});
    for (std::size_t cells = 0; cells <= rows[i].size() + 1; ++cells) {
      auto cut = rows;
      cut[i].resize(cells);
      survive(cut);
    }
  }
  for (std::size_t column = 0; !rows.empty() && column < rows.back().size(); ++column) {
    auto cut = rows;
    for (auto& row : cut) {
      if (column < row.size()) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
      }
    }
    survive(cut);
  }
}

}  // namespace mapsim
