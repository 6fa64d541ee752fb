// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <sstream>

#include "core/ascii.hpp"
#include "core/text_stream.hpp"
#include "workloads/mask.hpp"

namespace mapsim {

namespace {

// %%MatrixMarket matrix coordinate|array FIELD SYMMETRY. A tensor of several ranks has its last
// one as columns, all others as rows. Format: math.nist.gov/MatrixMarket/formats.html
class MatrixMarket {
 public:
  MatrixMarket(const std::string& content, const std::string& path,
               const std::vector<std::int64_t>& box)
      : stream_{stream_of(content)},
        path_{path},
        rows_{box.empty() ? 1 : elements_of(box) / box.back()},
        columns_{box.empty() ? 1 : box.back()},
        mask_(static_cast<std::size_t>(elements_of(box)), 0) {}

  std::vector<char> read() {
    read_banner();
    std::istringstream sizes = stream_of(next("the line of sizes"));
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;
    sizes >> rows >> columns;
    if (is_coordinate_) {
      sizes >> entries;
    }
    if (!sizes || has_more(sizes)) {
      refuse(is_coordinate_ ? "expected three numbers: rows, columns, entries"
                            : "expected two numbers: rows, columns");
    }
    if (rows != rows_ || columns != columns_) {
      refuse(fmt::format("{} x {}, but the tensor is {} x {} (its last rank as columns)", rows,
                         columns, rows_, columns_));
    }
    if (entries < 0 || entries > rows_ * columns_) {
      refuse(fmt::format("{} entries of a matrix of {} x {}", entries, rows, columns));
    }
    if (is_symmetric_ && rows_ != columns_) {
      refuse(fmt::format("a matrix of {} x {} is not symmetric", rows, columns));
    }
    is_coordinate_ ? read_entries(entries) : read_array();
    if (const std::optional<std::string> line = next_line()) {
      refuse("more entries than the line of sizes states");
    }
    return std::move(mask_);
  }

 private:
  [[noreturn]] void refuse(const std::string& message) const { refuse_mask(path_, line_, message); }

  static bool has_more(std::istringstream& line) {
    std::string word;
    return static_cast<bool>(line >> word);
  }

  void read_banner() {
    std::string first;
    std::getline(stream_, first);
    line_ = 1;
    std::istringstream head = stream_of(first);
    std::string banner;
    std::string object;
    std::string layout;
    std::string symmetry;
    head >> banner >> object >> layout >> field_ >> symmetry;
    layout = lower_case(layout);
    field_ = lower_case(field_);
    symmetry = lower_case(symmetry);
    is_coordinate_ = layout == "coordinate";
    if (lower_case(banner) != "%%matrixmarket" || lower_case(object) != "matrix" ||
        !(is_coordinate_ || layout == "array")) {
      refuse(
          "a Matrix Market file starts with '%%MatrixMarket matrix coordinate real general' or the "
          "like");
    }
    const bool has_pattern = field_ == "pattern" && is_coordinate_;
    if (!has_pattern && field_ != "real" && field_ != "integer") {
      refuse(
          fmt::format("the field '{}' is not read; it is 'real', 'integer', or of coordinates "
                      "'pattern'",
                      field_));
    }
    is_symmetric_ = symmetry == "symmetric" || symmetry == "skew-symmetric";
    if (symmetry != "general" && !(is_symmetric_ && is_coordinate_)) {
      refuse(
          fmt::format("the symmetry '{}' is not read; it is 'general', or of coordinates "
                      "'symmetric' or 'skew-symmetric'",
                      symmetry));
    }
  }

  // The next line that is neither blank nor a comment.
  std::optional<std::string> next_line() {
    for (std::string line; std::getline(stream_, line);) {
      ++line_;
      if (line.find_first_not_of(" \t\r") != std::string::npos && line.front() != '%') {
        return line;
      }
    }
    return std::nullopt;
  }

  std::string next(const std::string& what) {
    const std::optional<std::string> line = next_line();
    if (!line) {
      refuse("the file ends before " + what);
    }
    return *line;
  }

  void read_entries(std::int64_t entries) {
    for (std::int64_t e = 0; e < entries; ++e) {
      std::istringstream entry = stream_of(next(fmt::format("entry {} of {}", e + 1, entries)));
      std::int64_t row = 0;
      std::int64_t column = 0;
      double value = 1;
      entry >> row >> column;
      if (entry && field_ != "pattern") {
        entry >> value;
      }
      if (!entry || has_more(entry)) {
        refuse(field_ == "pattern" ? "expected a row and a column"
                                   : "expected a row, a column and a value");
      }
      if (row < 1 || row > rows_ || column < 1 || column > columns_) {
        refuse(
            fmt::format("row {}, column {} is outside of the matrix of {} x {}; both count "
                        "from 1",
                        row, column, rows_, columns_));
      }
      set(row - 1, column - 1, value);
      if (is_symmetric_) {
        set(column - 1, row - 1, value);
      }
    }
  }

  // By columns.
  void read_array() {
    const std::int64_t all = rows_ * columns_;
    for (std::int64_t i = 0; i < all; ++i) {
      std::istringstream entry = stream_of(next(fmt::format("value {} of {}", i + 1, all)));
      double value = 0;
      if (!(entry >> value) || has_more(entry)) {
        refuse("expected one value");
      }
      set(i % rows_, i / rows_, value);
    }
  }

  // An entry of value 0 is a zero that is stored.
  void set(std::int64_t row, std::int64_t column, double value) {
    char& at = mask_[static_cast<std::size_t>(row * columns_ + column)];
    at = value != 0 ? 1 : at;
  }

  std::istringstream stream_;
  const std::string& path_;
  std::int64_t rows_, columns_;
  std::vector<char> mask_;
  std::string field_;
  bool is_coordinate_ = false, is_symmetric_ = false;
  int line_ = 0;
};

}  // namespace

std::vector<char> from_matrix_market(const std::string& content, const std::string& path,
                                     const std::vector<std::int64_t>& box) {
  return MatrixMarket{content, path, box}.read();
}

}  // namespace mapsim
