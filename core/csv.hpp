// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostic.hpp"
#include "core/edit_distance.hpp"

namespace mapsim {

// A cell and where it stands.
struct CsvCell {
  std::string text;  // without quotes and white space around it
  int column = 0;    // 1-based, in bytes
};
struct CsvRow {
  int line = 0;  // 1-based
  std::vector<CsvCell> cells;
};

// A table of comma-separated values (RFC 4180, but a cell stays on its line): a header and rows of
// as many cells. Lines that start with # and empty lines are comments.
struct CsvTable {
  std::string file;
  std::vector<std::string> lines;     // of the text, for messages
  std::vector<std::string> comments;  // those before the header, without #
  CsvRow header;
  std::vector<CsvRow> rows;
};
// Throws ConfigError: no header, columns of one name, rows of another length, quotes left open.
CsvTable parse_csv(const std::string& text, const std::string& filename);
// The cells of one line; nothing: a quote is not closed.
std::optional<CsvRow> parse_csv_row(std::string_view line, int number);

// Reads typed cells and collects everything that is wrong; a read of an empty cell, of a column
// that the table does not have or of one behind the end of the row is nothing.
class CsvReader {
 public:
  using Column = std::optional<std::size_t>;
  explicit CsvReader(const CsvTable& table) : table_{&table} {}

  Column find(std::string_view name) const;
  // The first of these names that is a column; an error if none is.
  Column require(const std::vector<std::string_view>& names);
  // Columns other than these are errors, with what might have been meant.
  void refuse_others(const Words& names);

  const std::string& text(const CsvRow& row, Column column) const;  // "" for nothing
  // Decimal digits only.
  std::optional<std::int64_t> integer(const CsvRow& row, Column column, std::int64_t least,
                                      std::int64_t most);
  // A decimal number, exponent allowed, finite and above zero, or at least zero.
  std::optional<double> positive(const CsvRow& row, Column column) {
    return number(row, column, false);
  }
  std::optional<double> not_negative(const CsvRow& row, Column column) {
    return number(row, column, true);
  }
  // The index of the cell's word.
  std::optional<std::size_t> choice(const CsvRow& row, Column column, const Words& words);
  // For what must be there: an error that says so if `value` is nothing and the cell is empty.
  template <class T>
  T need(const CsvRow& row, Column column, std::optional<T> value, T otherwise) {
    if (!value && text(row, column).empty()) {
      error(row, column, "a value is missing");
    }
    return value.value_or(otherwise);
  }

  void error(const CsvRow& row, Column column, const std::string& message);
  void finish() const;  // throws ConfigError if there was an error

 private:
  std::optional<double> number(const CsvRow& row, Column column, bool zero);
  const CsvTable* table_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t unlisted_ = 0;
};

// `text` as a cell: in quotes where it has to be.
std::string csv_cell(std::string_view text);

}  // namespace mapsim
