// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"

namespace mapsim {

// The value of a key of a map, or nullptr. Unlike Fields, it does not check the other keys.
const Node* value_of(const Node& map, std::string_view key);

// true or false by any of their words in YAML 1.1 (yes, On, FALSE, n ...), quoted or not, as Python
// writes them and yaml-cpp accepts them. nullopt: another word.
std::optional<bool> foreign_boolean(std::string_view text);
std::optional<bool> read_foreign_boolean(Reader& reader, const Node* node);

// A whole number of at least `least`, which may be written 16.0. Errors go to the reader; nullopt:
// absent, or an error.
std::optional<std::int64_t> read_whole(Reader& reader, const Node* node, std::int64_t least);

// Removes the underscores between digits of unquoted numbers (16_777_216), which Python's YAML
// accepts.
void join_digits(Node& node);

// A piece of a scalar's text, and its offset [B] in it.
struct TextPiece {
  std::string text;
  std::size_t offset = 0;
};
// The non-empty pieces between characters of `separators`.
std::vector<TextPiece> pieces(const std::string& text, std::string_view separators);
// The inverse: "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view between);

}  // namespace mapsim
