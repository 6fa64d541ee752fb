// SPDX-License-Identifier: Apache-2.0
#include "interop/foreign_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mapsim {

const Node* value_of(const Node& map, std::string_view key) {
  for (const Entry& entry : map.entries) {
    if (entry.key.text == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

void join_digits(Node& node) {
  for (Node& item : node.items) {
    join_digits(item);
  }
  for (Entry& entry : node.entries) {
    join_digits(entry.value);
  }
  std::string& text = node.text;
  if (node.plain && text.find('_') != std::string::npos &&
      text.find_first_not_of("0123456789_.") == std::string::npos && text.front() != '_') {
    std::erase(text, '_');
  }
}

std::optional<bool> foreign_boolean(std::string_view text) {
  // As they stand, with a capital first, or in capitals alone.
  constexpr std::array kYes{"true", "yes", "on", "y"};
  constexpr std::array kNo{"false", "no", "off", "n"};
  const auto is = [text](std::string_view word) {
    const auto upper = [](char c) { return static_cast<char>(c - 'a' + 'A'); };
    std::string capital{word};
    capital.front() = upper(capital.front());
    std::string capitals{word};
    std::transform(word.begin(), word.end(), capitals.begin(), upper);
    return text == word || text == capital || text == capitals;
  };
  if (std::any_of(kYes.begin(), kYes.end(), is)) {
    return true;
  }
  return std::any_of(kNo.begin(), kNo.end(), is) ? std::optional{false} : std::nullopt;
}

std::optional<bool> read_foreign_boolean(Reader& reader, const Node* node) {
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto value = node->kind == Node::Kind::kScalar ? foreign_boolean(node->text) : std::nullopt;
  if (!value) {
    reader.error(*node, fmt::format("expected true or false, not {}", describe(*node)));
  }
  return value;
}

std::optional<std::int64_t> read_whole(Reader& reader, const Node* node, std::int64_t least) {
  const std::optional<double> number = reader.number(node, static_cast<double>(least));
  if (!number) {
    return std::nullopt;
  }
  if (*number != std::floor(*number) || *number > static_cast<double>(kMaxInteger)) {
    reader.error(*node, fmt::format("{} is not a whole number", quoted(node->text)));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::vector<TextPiece> pieces(const std::string& text, std::string_view separators) {
  std::vector<TextPiece> found;
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    found.push_back({text.substr(begin, end - begin), begin});
    begin = text.find_first_not_of(separators, end);
  }
  return found;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : std::string{between}) + word;
  }
  return text;
}

}  // namespace mapsim
