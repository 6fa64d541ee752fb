// SPDX-License-Identifier: Apache-2.0
#include "core/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace mapsim {
namespace {

constexpr std::size_t kMaxListed = 100;  // errors per file

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The cell that begins at `at`, which moves behind it. Nothing: its quotes stay open.
std::optional<CsvCell> take_cell(std::string_view line, std::size_t& at) {
  while (at < line.size() && blank(line[at])) {
    ++at;
  }
  CsvCell cell{"", static_cast<int>(at) + 1};
  if (at < line.size() && line[at] == '"') {
    for (++at; at < line.size(); ++at) {
      if (line[at] != '"') {
        cell.text += line[at];
      } else if (at + 1 < line.size() && line[at + 1] == '"') {
        cell.text += line[at++];
      } else {
        at = std::min(line.find(',', at), line.size());
        return cell;
      }
    }
    return std::nullopt;
  }
  const std::size_t end = std::min(line.find(',', at), line.size());
  cell.text = line.substr(at, end - at);
  while (!cell.text.empty() && blank(cell.text.back())) {
    cell.text.pop_back();
  }
  at = end;
  return cell;
}

[[noreturn]] void fail(const CsvTable& table, int line, int column, const std::string& message) {
  const std::string source = line > 0 ? table.lines[static_cast<std::size_t>(line) - 1] : "";
  throw ConfigError{{{table.file, line, column, "", message, source}}};
}

void check_header(const CsvTable& table) {
  for (std::size_t i = 0; i < table.header.cells.size(); ++i) {
    const CsvCell& cell = table.header.cells[i];
    if (cell.text.empty()) {
      fail(table, table.header.line, cell.column, "a column without a name");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (table.header.cells[j].text == cell.text) {
        fail(table, table.header.line, cell.column,
             fmt::format("a second column {}", quoted(cell.text)));
      }
    }
  }
}

}  // namespace

std::optional<CsvRow> parse_csv_row(std::string_view line, int number) {
  CsvRow row{number, {}};
  for (std::size_t at = 0;; ++at) {  // past the comma
    std::optional<CsvCell> cell = take_cell(line, at);
    if (!cell) {
      return std::nullopt;
    }
    row.cells.push_back(std::move(*cell));
    if (at >= line.size()) {
      return row;
    }
  }
}

CsvTable parse_csv(const std::string& text, const std::string& filename) {
  CsvTable table{filename, lines_of(text), {}, {}, {}};
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const std::string& line = table.lines[i];
    const int number = static_cast<int>(i) + 1;
    if (std::all_of(line.begin(), line.end(), blank)) {
      continue;
    }
    if (line.front() == '#') {
      if (table.header.line == 0) {
        table.comments.push_back(line.substr(1));
      }
      continue;
    }
    std::optional<CsvRow> row = parse_csv_row(line, number);
    if (!row) {
      fail(table, number, 1, "a quote is not closed on this line");
    }
    if (table.header.line == 0) {
      table.header = std::move(*row);
      check_header(table);
    } else if (row->cells.size() != table.header.cells.size()) {
      fail(
          table, number, 1,
          fmt::format("{} cells; the header has {}", row->cells.size(), table.header.cells.size()));
    } else {
      table.rows.push_back(std::move(*row));
    }
  }
  if (table.header.line == 0) {
    fail(table, 0, 0, "no header line with the names of the columns");
  }
  return table;
}

CsvReader::Column CsvReader::find(std::string_view name) const {
  for (std::size_t i = 0; i < table_->header.cells.size(); ++i) {
    if (table_->header.cells[i].text == name) {
      return i;
    }
  }
  return std::nullopt;
}

CsvReader::Column CsvReader::require(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) {
    if (const Column column = find(name)) {
      return column;
    }
  }
  std::string list;
  for (const std::string_view name : names) {
    list += list.empty() ? "" : " or ";
    list += quoted(std::string{name});
  }
  error(table_->header, 0, fmt::format("no column {}", list));
  return std::nullopt;
}

void CsvReader::refuse_others(const Words& names) {
  for (std::size_t i = 0; i < table_->header.cells.size(); ++i) {
    const std::string& name = table_->header.cells[i].text;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      error(table_->header, i,
            fmt::format("unknown column {}{}", quoted(name), suggestion(name, names)));
    }
  }
}

const std::string& CsvReader::text(const CsvRow& row, Column column) const {
  static const std::string kNothing;
  return column && *column < row.cells.size() ? row.cells[*column].text : kNothing;
}

std::optional<std::int64_t> CsvReader::integer(const CsvRow& row, Column column, std::int64_t least,
                                               std::int64_t most) {
  const std::string& cell = text(row, column);
  if (cell.empty()) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const char* end = cell.data() + cell.size();
  const auto [stop, problem] = std::from_chars(cell.data(), end, value);
  if (problem != std::errc{} || stop != end || value < least || value > most) {
    error(row, column,
          fmt::format("{} is not a whole number from {} to {}", quoted(cell), least, most));
    return std::nullopt;
  }
  return value;
}

std::optional<double> CsvReader::number(const CsvRow& row, Column column, bool zero) {
  const std::string& cell = text(row, column);
  if (cell.empty()) {
    return std::nullopt;
  }
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto [stop, problem] = std::from_chars(cell.data(), end, value);
  if (problem != std::errc{} || stop != end || !std::isfinite(value) || value < 0 ||
      (value == 0 && !zero)) {
    error(row, column,
          fmt::format("{} is not a number {} zero", quoted(cell), zero ? "of at least" : "above"));
    return std::nullopt;
  }
  return value;
}

std::optional<std::size_t> CsvReader::choice(const CsvRow& row, Column column, const Words& words) {
  const std::string& cell = text(row, column);
  if (cell.empty()) {
    return std::nullopt;
  }
  const auto found = std::find(words.begin(), words.end(), cell);
  if (found == words.end()) {
    error(row, column, fmt::format("unknown {}{}", quoted(cell), suggestion(cell, words)));
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - words.begin());
}

void CsvReader::error(const CsvRow& row, Column column, const std::string& message) {
  if (diagnostics_.size() == kMaxListed) {
    ++unlisted_;
    return;
  }
  const std::string path = text(table_->header, column);
  const bool stands = column && *column < row.cells.size();
  diagnostics_.push_back({table_->file, row.line, stands ? row.cells[*column].column : 1,
                          &row == &table_->header ? "" : path, message,
                          table_->lines[static_cast<std::size_t>(row.line) - 1]});
}

void CsvReader::finish() const {
  if (!diagnostics_.empty()) {
    throw ConfigError{diagnostics_, unlisted_};
  }
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"#") == std::string_view::npos &&
      (text.empty() || (!blank(text.front()) && !blank(text.back())))) {
    return std::string{text};
  }
  std::string cell = "\"";
  for (const char c : text) {
    cell += c == '"' ? "\"\"" : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  }
  return cell + "\"";
}

}  // namespace mapsim
