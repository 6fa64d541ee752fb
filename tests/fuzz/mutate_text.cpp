// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/mutate.hpp"

namespace mapsim {

namespace {

constexpr std::array<std::string_view, 34> kNumbers{"0",          "1",
                                                    "-1",         "2",
                                                    "3",          "7",
                                                    "0.5",        "-0.0",
                                                    "255",        "256",
                                                    "1000",       "65536",
                                                    "2147483647", "2147483648",
                                                    "4294967296", "9007199254740992",
                                                    "1e15",       "1e308",
                                                    "1e-308",     "4.9e-324",
                                                    "1e400",      "nan",
                                                    "inf",        "-inf",
                                                    "0x10",       "010",
                                                    "1_000",      "9223372036854775807",
                                                    "1e18",       "720720",
                                                    "1.",         "9223372036854775808",
                                                    "+1",         "18446744073709551616"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Words and runs of blanks; anything else by itself.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    const auto same = [&](auto is) {
      while (is(text[at]) && end < text.size() && is(text[end])) {
        ++end;
      }
    };
    same(is_word);
    same([](char c) { return c == ' '; });
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    lines.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += part;
  }
  return text;
}

// Leaves out, repeats, swaps or replaces a part.
void shuffle(std::vector<std::string>& parts, Rng& rng) {
  const std::string other = one_of(parts, rng);
  const auto at = parts.begin() + static_cast<std::ptrdiff_t>(rng.below(parts.size()));
  switch (rng.below(4)) {
    case 0:
      parts.erase(at);
      return;
    case 1:
      parts.insert(at, other);
      return;
    case 2:
      std::swap(*at, one_of(parts, rng));
      return;
    default:
      *at = other;
  }
}

void change_byte(std::string& text, Rng& rng) {
  char& byte = one_of(text, rng);
  byte = static_cast<char>(rng.below(2) == 0 ? rng.below(256) : byte ^ (1U << rng.below(8)));
}

}  // namespace

std::string with_another_number(const std::string& text, Rng& rng) {
  std::vector<std::pair<std::size_t, std::size_t>> numbers;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (is_digit(text[end]) || (end > at && text[end] == '.'))) {
      ++end;
    }
    if (end > at && (at == 0 || !is_word(text[at - 1]))) {
      numbers.emplace_back(at, end - at);
    }
    at = end + 1;
  }
  const std::string_view number = one_of(kNumbers, rng);
  if (numbers.empty()) {
    return std::string{number};
  }
  const auto [begin, size] = one_of(numbers, rng);
  return std::string{text}.replace(begin, size, number);
}

std::string mutate_text(const std::string& text, Rng& rng) {
  if (text.empty()) {
    return "0";
  }
  std::string changed = text;
  switch (rng.below(8)) {
    case 0:
      change_byte(changed, rng);
      return changed;
    case 1:
      return changed.substr(0, rng.below(changed.size()));
    case 2:
    case 3:
      return with_another_number(changed, rng);
    case 4:
    case 5: {
      std::vector<std::string> lines = lines_of(changed);
      shuffle(lines, rng);
      return joined(lines);
    }
    default: {
      std::vector<std::string> words = words_of(changed);
      shuffle(words, rng);
      return joined(words);
    }
  }
}

std::string mutate(InputForm form, const std::string& input, std::size_t most, Rng& rng) {
  std::string changed = input;
  for (std::uint64_t times = 1 + rng.below(4); times > 0; --times) {
    changed = form == InputForm::kWire                        ? mutate_wire(changed, rng)
              : form == InputForm::kTree && rng.below(8) != 0 ? mutate_tree(changed, rng)
                                                              : mutate_text(changed, rng);
  }
  return changed.substr(0, most);
}

}  // namespace mapsim
