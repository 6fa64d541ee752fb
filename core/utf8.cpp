// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.hpp"

namespace mapsim {
namespace {

bool is_control(unsigned char byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
}

// Bytes of the character that begins at `at`; 0: none does.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) {
    return is_control(lead) ? 0 : 1;
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) {
    return 0;
  }
  for (const char continuation : text.substr(at + 1, length - 1)) {
    if ((static_cast<unsigned char>(continuation) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  return length;
}

}  // namespace

std::optional<std::size_t> first_non_text_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return std::nullopt;
}

}  // namespace mapsim
