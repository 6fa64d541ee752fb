// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cctype>
#include <string>

namespace mapsim {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A to Z as a to z, all other bytes as they are.
inline std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace mapsim
