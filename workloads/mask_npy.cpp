// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "core/diagnostic.hpp"
#include "workloads/mask.hpp"

namespace mapsim {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = 1 << 16;  // bytes; NumPy writes some 118

// A NumPy file: magic, version, length of the header, header, elements. Format:
// numpy.org/doc/stable/reference/generated/numpy.lib.format.html
struct NpyFile {
  std::string_view header, elements;
};

NpyFile split(std::string_view content, const std::string& path) {
  if (content.substr(0, kMagic.size()) != kMagic || content.size() < kMagic.size() + 2) {
    refuse_mask(path, 0, "not a NumPy file; numpy.save makes one");
  }
  const int version = static_cast<unsigned char>(content[kMagic.size()]);
  if (version < 1 || version > 3) {
    refuse_mask(path, 0,
                fmt::format("version {} of NumPy's format is not read; 1 to 3 are", version));
  }
  const std::size_t at = kMagic.size() + 2;
  const std::size_t start = at + (version == 1 ? 2 : 4);
  std::size_t length = 0;
  for (std::size_t i = std::min(start, content.size()); i-- > at;) {
    length = length << 8U | static_cast<unsigned char>(content[i]);
  }
  if (content.size() < start || length > kMostHeader || content.size() - start < length) {
    refuse_mask(path, 0, "the file ends within its header, or the header's length is damaged");
  }
  return {content.substr(start, length), content.substr(start + length)};
}

// The text of a key of the header, a Python dict: {'descr': '<f4', 'shape': (2, 3), }.
std::optional<std::string_view> field(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = header.substr(at + key.size() + 3);
  const std::size_t from = rest.find_first_not_of(' ');
  rest = rest.substr(std::min(from, rest.size()));
  const std::size_t end = rest.find(!rest.empty() && rest.front() == '(' ? ')' : ',');
  return end == std::string_view::npos ? std::nullopt : std::optional{rest.substr(0, end)};
}

// '(2, 3' and '(2,'.
std::optional<std::vector<std::int64_t>> extents(std::string_view text) {
  std::vector<std::int64_t> shape;
  if (text.empty() || text.front() != '(') {
    return std::nullopt;
  }
  text.remove_prefix(1);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) {
      return shape;
    }
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{} || extent < 0) {
      return std::nullopt;
    }
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && text.front() != ',') {
      return std::nullopt;
    }
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
  }
}

// Bytes of an element of '<f4' and the like; absent: of no type that is read.
std::optional<std::size_t> width_of(std::string_view type) {
  const std::string_view known[] = {"'|b1'", "'|u1'", "'|i1'", "'<u2'", "'<i2'", "'<f2'",
                                    "'<u4'", "'<i4'", "'<f4'", "'<u8'", "'<i8'", "'<f8'"};
  for (const std::string_view name : known) {
    if (type == name) {
      return static_cast<std::size_t>(name[3] - '0');
    }
  }
  return std::nullopt;
}

void require_type(const NpyFile& file, const std::string& path) {
  const std::optional<std::string_view> type = field(file.header, "descr");
  if (!type) {
    refuse_mask(path, 0, "the header of the file names no type of one number ('descr')");
  }
  if (!width_of(*type)) {
    refuse_mask(path, 0,
                fmt::format("elements of type {} are not read; little-endian numbers of up to 8 "
                            "bytes are: numpy.save(path, (x != 0).astype('u1'))",
                            quoted(std::string{*type})));
  }
  const std::optional<std::string_view> order = field(file.header, "fortran_order");
  if (order == "True") {
    refuse_mask(path, 0,
                "the array is in Fortran order; numpy.save(path, numpy.ascontiguousarray(x)) "
                "writes it row by row");
  }
  if (order != "False") {
    refuse_mask(path, 0, "the header of the file states no order ('fortran_order')");
  }
}

}  // namespace

// An element is zero iff its bytes are, but for the sign of a float.
std::vector<char> from_npy(const std::string& content, const std::string& path,
                           const std::vector<std::int64_t>& box) {
  const NpyFile file = split(content, path);
  require_type(file, path);
  const auto shape = extents(field(file.header, "shape").value_or(""));
  if (!shape) {
    refuse_mask(path, 0, "the header of the file states no shape such as (2, 3)");
  }
  if (*shape != box) {
    refuse_mask(path, 0,
                fmt::format("an array of {}, but the tensor is {}",
                            shape->empty() ? "no ranks" : extents_text(*shape), extents_text(box)));
  }
  const std::string_view type = *field(file.header, "descr");
  const std::size_t width = *width_of(type);
  const auto size = static_cast<std::size_t>(elements_of(box));
  if (file.elements.size() != width * size) {
    refuse_mask(path, 0,
                fmt::format("{} bytes of elements; {} of {} bytes are {}", file.elements.size(),
                            size, width, width * size));
  }
  std::vector<char> mask(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t b = 0; b < width; ++b) {
      const bool has_sign = type[2] == 'f' && b + 1 == width;
      const auto byte = static_cast<unsigned char>(file.elements[i * width + b]);
      mask[i] = (has_sign ? byte & 0x7FU : byte) != 0 ? 1 : mask[i];
    }
  }
  return mask;
}

}  // namespace mapsim
