// SPDX-License-Identifier: Apache-2.0
#include "workloads/pattern.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <sstream>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of a mask: a byte each

[[noreturn]] void fail(const std::string& path, int line, const std::string& message) {
  throw ConfigError({{path, line, 0, "", message, ""}});
}

std::int64_t size_of(const std::vector<std::int64_t>& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{1}, std::multiplies<>{});
}

std::string extents_text(const std::vector<std::int64_t>& box) {
  return fmt::format("{}", fmt::join(box, " x "));
}

// Digits 0 and 1, row-major; blanks and commas between them do not matter.
std::vector<char> from_digits(const std::string& content, const std::string& path,
                              const std::vector<std::int64_t>& box) {
  std::vector<char> mask;
  int line = 1;
  for (const char c : content) {
    if (c == '0' || c == '1') {
      mask.push_back(static_cast<char>(c - '0'));
    } else if (c == '\n') {
      ++line;
    } else if (std::strchr(" \t\r,;", c) == nullptr) {
      fail(path, line, "a mask as text has digits 0 and 1 only, row by row");
    }
  }
  if (static_cast<std::int64_t>(mask.size()) != size_of(box)) {
    fail(path, 0,
         fmt::format("{} digits, but the tensor has {} = {} elements", mask.size(),
                     extents_text(box), size_of(box)));
  }
  return mask;
}

// %%MatrixMarket matrix coordinate|array FIELD SYMMETRY. A tensor of several ranks has its last
// one as columns, all others as rows.
class MatrixMarket {
 public:
  MatrixMarket(const std::string& content, const std::string& path,
               const std::vector<std::int64_t>& box)
      : stream_{content},
        path_{path},
        rows_{box.empty() ? 1 : size_of(box) / box.back()},
        columns_{box.empty() ? 1 : box.back()},
        mask_(static_cast<std::size_t>(size_of(box)), 0) {}

  std::vector<char> read() {
    std::string banner;
    std::string object;
    std::string symmetry;
    std::istringstream head{next()};
    head >> banner >> object >> layout_ >> field_ >> symmetry;
    if (banner != "%%MatrixMarket" || object != "matrix" ||
        (layout_ != "coordinate" && layout_ != "array")) {
      fail(path_, line_,
           "a Matrix Market file starts with '%%MatrixMarket matrix coordinate real general' or "
           "the like");
    }
    symmetric_ = symmetry == "symmetric" || symmetry == "skew-symmetric";
    if (symmetry != "general" && !(symmetric_ && layout_ == "coordinate")) {
      fail(path_, line_, "symmetry is 'general', or of coordinates 'symmetric'");
    }
    std::string line = next();
    while (line.empty() || line.front() == '%') {
      line = next();
    }
    std::istringstream sizes{line};
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;
    sizes >> rows >> columns;
    if (layout_ == "coordinate") {
      sizes >> entries;
    }
    if (!sizes || rows != rows_ || columns != columns_) {
      fail(path_, line_,
           fmt::format("{} x {}, but the tensor is {} x {} (its last rank as columns)", rows,
                       columns, rows_, columns_));
    }
    layout_ == "coordinate" ? read_entries(entries) : read_array();
    return std::move(mask_);
  }

 private:
  std::string next() {
    std::string line;
    if (!std::getline(stream_, line)) {
      fail(path_, line_, "the file ends before its last entry");
    }
    ++line_;
    return line;
  }

  void read_entries(std::int64_t entries) {
    for (std::int64_t e = 0; e < entries; ++e) {
      std::istringstream entry{next()};
      std::int64_t row = 0;
      std::int64_t column = 0;
      double value = 1;
      entry >> row >> column;
      if (entry && field_ != "pattern") {
        entry >> value;
      }
      if (!entry || row < 1 || row > rows_ || column < 1 || column > columns_) {
        fail(path_, line_, "expected a row, a column and a value within the matrix, from 1 on");
      }
      set(row - 1, column - 1, value);
      if (symmetric_ && column <= rows_ && row <= columns_) {
        set(column - 1, row - 1, value);
      }
    }
  }

  // By columns.
  void read_array() {
    for (std::int64_t i = 0; i < rows_ * columns_; ++i) {
      std::istringstream entry{next()};
      double value = 0;
      if (!(entry >> value)) {
        fail(path_, line_, "expected a value");
      }
      set(i % rows_, i / rows_, value);
    }
  }

  void set(std::int64_t row, std::int64_t column, double value) {
    mask_[static_cast<std::size_t>(row * columns_ + column)] = value != 0 ? 1 : 0;
  }

  std::istringstream stream_;
  const std::string& path_;
  std::int64_t rows_, columns_;
  std::vector<char> mask_;
  std::string layout_, field_;
  bool symmetric_ = false;
  int line_ = 0;
};

// The value of a key of the header of a .npy file: {'descr': '<f4', 'shape': (2, 3), }.
std::string npy_field(const std::string& header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "'");
  const std::size_t colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) {
    return "";
  }
  const std::size_t from = header.find_first_not_of(' ', colon + 1);
  const char close = from < header.size() && header[from] == '(' ? ')' : ',';
  return header.substr(from, header.find(close, from) - from);
}

// C order, any number type: an element is zero iff its bytes are, but for the sign of a float.
std::vector<char> from_npy(const std::string& content, const std::string& path,
                           const std::vector<std::int64_t>& box) {
  const std::size_t start = content.size() > 10 && content[6] == 1 ? 10 : 12;
  if (content.size() < start || content.compare(0, 6, "\x93NUMPY") != 0) {
    fail(path, 0, "not a NumPy file; numpy.save makes one");
  }
  std::size_t length = 0;
  for (std::size_t i = start; i-- > 8;) {
    length = length << 8 | static_cast<unsigned char>(content[i]);
  }
  const std::string header = content.substr(start, std::min(length, content.size() - start));
  const std::string type = npy_field(header, "descr");
  if (npy_field(header, "fortran_order") != "False" || type.size() < 4 ||
      std::strchr("<|", type[1]) == nullptr || std::strchr("fiub", type[2]) == nullptr) {
    fail(path, 0,
         "expected little-endian numbers in C order; numpy.save(path, (x != 0).astype('u1')) "
         "makes such a file");
  }
  std::vector<std::int64_t> shape;
  std::istringstream extents{npy_field(header, "shape").substr(1)};
  for (std::string extent; std::getline(extents, extent, ',');) {
    if (const long long n = std::atoll(extent.c_str()); n > 0) {
      shape.push_back(n);
    }
  }
  if (shape != box) {
    fail(path, 0,
         fmt::format("an array of {}, but the tensor is {}", extents_text(shape),
                     extents_text(box)));
  }
  const auto width = static_cast<std::size_t>(std::atoi(type.c_str() + 3));
  const auto size = static_cast<std::size_t>(size_of(box));
  if (width == 0 || width > 8 || content.size() - start - header.size() < width * size) {
    fail(path, 0, "the file ends before its last element");
  }
  std::vector<char> mask(size, 0);
  const char* bytes = content.data() + start + header.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t b = 0; b < width; ++b) {
      const bool sign = type[2] == 'f' && b + 1 == width;
      const auto byte = static_cast<unsigned char>(bytes[i * width + b]);
      mask[i] = (sign ? byte & 0x7FU : byte) != 0 ? 1 : mask[i];
    }
  }
  return mask;
}

}  // namespace

std::vector<char> parse_mask(const std::string& content, const std::string& path,
                             const std::vector<std::int64_t>& box) {
  if (size_of(box) > kMostElements) {
    fail(path, 0, fmt::format("a mask has at most {} elements", kMostElements));
  }
  if (path.ends_with(".npy")) {
    return from_npy(content, path, box);
  }
  return path.ends_with(".mtx") ? MatrixMarket{content, path, box}.read()
                                : from_digits(content, path, box);
}

std::vector<char> read_mask(const std::string& path, const std::vector<std::int64_t>& box) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    fail(path, 0, "cannot be read");
  }
  return parse_mask({std::istreambuf_iterator<char>{file}, {}}, path, box);
}

std::vector<char> banded_mask(std::int64_t width, const std::vector<std::int64_t>& box) {
  std::vector<char> mask;
  for (std::int64_t i = 0; i < box[0]; ++i) {
    for (std::int64_t j = 0; j < box[1]; ++j) {
      mask.push_back(std::abs(i - j) <= width ? 1 : 0);
    }
  }
  return mask;
}

}  // namespace mapsim
