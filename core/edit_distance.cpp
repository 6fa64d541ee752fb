// SPDX-License-Identifier: Apache-2.0
#include "core/edit_distance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace mapsim {
namespace {

constexpr std::size_t kLongestTypo = 64;  // longer words are not typos, and would cost time
constexpr std::size_t kFew = 16;

std::string lower_case(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

// Of at least three letters, without the dashes of an option.
const std::string* only_beginning_with(const std::string& word, const Words& known) {
  constexpr std::size_t kLetters = 3;
  const auto begins = [&word](const std::string& other) {
    return lower_case(other).starts_with(word);
  };
  const auto first = std::ranges::find_if(known, begins);
  return word.size() - std::min(word.find_first_not_of('-'), word.size()) >= kLetters &&
                 std::ranges::count_if(known, begins) == 1
             ? &*first
             : nullptr;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // rows[i][j] = distance between the first i characters of a and the first j of b.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    rows[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

std::optional<std::string> nearest_word(std::string_view word, const Words& known) {
  const std::string typo = lower_case(word.substr(0, kLongestTypo + 1));
  if (const std::string* whole = only_beginning_with(typo, known)) {
    return *whole;
  }
  // One slip in three characters, and never all of the word. Of two characters one may be missing,
  // but one that differs is half of the word.
  std::size_t allowed = typo.size() > kLongestTypo ? 0 : (typo.size() + 1) / 3 + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(typo, lower_case(candidate));
    const bool differs = typo.size() == 2 && candidate.size() == 2 && distance > 0;
    if (distance < allowed && distance < candidate.size() && !differs) {
      allowed = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string suggestion(std::string_view word, const Words& known) {
  if (const auto nearest = nearest_word(word, known)) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  if (known.empty() || known.size() > kFew) {
    return "";
  }
  return fmt::format("; {}{}", known.size() == 1 ? "only " : "one of ", fmt::join(known, ", "));
}

}  // namespace mapsim
