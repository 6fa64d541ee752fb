// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"

namespace mapsim {

// The value of a key of a map, or nullptr. Unlike Fields, it asks nothing of the other keys.
const Node* value_of(const Node& map, std::string_view key);

// true or false in any of the words that YAML 1.1 has for them (yes, On, FALSE, n ...), quoted or
// not: what Python writes and yaml-cpp's conversions take. nullopt: another word.
std::optional<bool> foreign_boolean(std::string_view text);
std::optional<bool> read_foreign_boolean(Reader& reader, const Node* node);

// A whole number that may be written 16.0.
std::optional<std::int64_t> read_whole(Reader& reader, const Node* node, std::int64_t least);

// Removes the underscores between digits of numbers without quotes (16_777_216), which Python's
// YAML reads.
void join_digits(Node& node);

// A piece of a scalar's text, and where it begins.
struct TextPiece {
  std::string text;
  std::size_t offset = 0;
};
// The pieces between any of `separators`, empty ones left out.
std::vector<TextPiece> pieces(const std::string& text, std::string_view separators);
// The other way round: "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view between);

}  // namespace mapsim
