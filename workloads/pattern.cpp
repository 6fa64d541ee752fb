// SPDX-License-Identifier: Apache-2.0
#include "workloads/pattern.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <system_error>

#include "core/diagnostic.hpp"
#include "workloads/mask.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of a mask: a byte each
// An element takes this many characters of a file at most, among them blanks and comments.
constexpr std::int64_t kMostCharacters = 64;
constexpr std::int64_t kMostHead = 1 << 20;

void require_mask_size(const std::string& path, const std::vector<std::int64_t>& box) {
  if (elements_of(box) > kMostElements) {
    refuse_mask(path, 0,
                fmt::format("the tensor has {} = {} elements; a mask has at most {}",
                            extents_text(box), elements_of(box), kMostElements));
  }
}

// Is this the number of elements along the last ranks: of one, of a row, of a matrix, or of all?
bool is_whole(std::int64_t digits, const std::vector<std::int64_t>& box) {
  std::int64_t elements = 1;
  for (std::size_t r = box.size(); elements < digits && r-- > 0;) {
    elements *= box[r];
  }
  return elements == digits;
}

// Digits 0 and 1, row by row; blanks and commas between them do not matter.
std::vector<char> from_digits(const std::string& content, const std::string& path,
                              const std::vector<std::int64_t>& box) {
  constexpr std::string_view kBetween = " \t\r,;";
  std::vector<char> mask;
  int line = 1;
  std::int64_t before = 0;  // digits on the lines before
  const auto end_line = [&] {
    const std::int64_t digits = std::ssize(mask) - before;
    if (!is_whole(digits, box) && digits > 0 && std::ssize(mask) <= elements_of(box)) {
      refuse_mask(path, line,
                  fmt::format("a line of {} digits; the tensor is {}, so a row has {}", digits,
                              extents_text(box), box.empty() ? 1 : box.back()));
    }
    before = std::ssize(mask);
  };
  for (const char c : content) {
    if (c == '0' || c == '1') {
      mask.push_back(static_cast<char>(c - '0'));
    } else if (c == '\n') {
      end_line();
      ++line;
    } else if (kBetween.find(c) == std::string_view::npos) {
      refuse_mask(path, line,
                  "a mask as text has the digits 0 and 1 only, row by row; other files are named "
                  ".npy or .mtx");
    }
  }
  end_line();
  if (static_cast<std::int64_t>(mask.size()) != elements_of(box)) {
    refuse_mask(path, 0,
                fmt::format("{} digits, but the tensor has {} = {} elements", mask.size(),
                            extents_text(box), elements_of(box)));
  }
  return mask;
}

}  // namespace

void refuse_mask(const std::string& path, int line, const std::string& message) {
  throw ConfigError({{path, line, line > 0 ? 1 : 0, "", message, ""}});
}

std::int64_t elements_of(const std::vector<std::int64_t>& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{1}, std::multiplies<>{});
}

std::string extents_text(const std::vector<std::int64_t>& box) {
  return fmt::format("{}", fmt::join(box, " x "));
}

std::vector<char> parse_mask(const std::string& content, const std::string& path,
                             const std::vector<std::int64_t>& box) {
  require_mask_size(path, box);
  if (path.ends_with(".npy")) {
    return from_npy(content, path, box);
  }
  return path.ends_with(".mtx") ? from_matrix_market(content, path, box)
                                : from_digits(content, path, box);
}

std::string mask_path(const std::string& file, const std::string& named) {
  const std::filesystem::path folder = std::filesystem::path{file}.parent_path();
  const std::filesystem::path there = folder / named;
  const std::filesystem::path beside = folder / there.filename();
  std::error_code unknown;
  const bool has_moved =
      !std::filesystem::exists(there, unknown) && std::filesystem::exists(beside, unknown);
  return (std::filesystem::path{named}.is_absolute() && has_moved ? beside : there).string();
}

std::vector<char> read_mask(const std::string& path, const std::vector<std::int64_t>& box) {
  require_mask_size(path, box);
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) {
    refuse_mask(path, 0, failed ? failed.message() : "not a file");
  }
  std::ifstream file{path, std::ios::binary};
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  const std::int64_t most = kMostHead + kMostCharacters * elements_of(box);
  if (!failed && size > static_cast<std::uintmax_t>(most)) {
    refuse_mask(
        path, 0,
        fmt::format("{} bytes are more than a mask of {} elements takes", size, elements_of(box)));
  }
  std::string content(failed ? 0 : static_cast<std::size_t>(size), '\0');
  if (failed || !file.read(content.data(), static_cast<std::streamsize>(content.size()))) {
    refuse_mask(path, 0, "cannot be read");
  }
  return parse_mask(content, path, box);
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
