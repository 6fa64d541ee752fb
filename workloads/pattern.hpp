// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/index.hpp"

namespace mapsim {

// Where the nonzero elements of a tensor are.
enum class PatternKind : std::uint8_t {
  kStructured,  // exactly `kept` of each `block` neighbours along `dim`, any of them
  kData         // at known places
};
struct Pattern {
  PatternKind kind = PatternKind::kStructured;
  std::int64_t kept = 0, block = 1;
  DimId dim{};
  std::string text;               // as the file has it
  std::vector<char> nonzero;      // data: 1 or 0 per element, row-major over the ranks
  std::vector<std::int64_t> box;  // ... of these extents
  friend bool operator==(const Pattern&, const Pattern&) = default;
};

// Reads which elements of a tensor of these extents are not zero: Matrix Market (.mtx), NumPy
// (.npy), or text of the digits 0 and 1. Throws ConfigError that names the file, and the line where
// there is one.
std::vector<char> read_mask(const std::string& path, const std::vector<std::int64_t>& box);
// The file of a mask that `file` names: from its folder, or, if it is named from the root and not
// there, beside it. So a proof, which names masks from the root, may move with them.
std::string mask_path(const std::string& file, const std::string& named);
std::vector<char> parse_mask(const std::string& content, const std::string& path,
                             const std::vector<std::int64_t>& box);

// |i - j| <= width of two ranks of these extents.
std::vector<char> banded_mask(std::int64_t width, const std::vector<std::int64_t>& box);

}  // namespace mapsim
