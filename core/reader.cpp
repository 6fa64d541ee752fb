// SPDX-License-Identifier: Apache-2.0
#include "core/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "core/ascii.hpp"

namespace mapsim {
namespace {

constexpr std::size_t kMostErrors = 100;  // per file; finding the path of each walks the tree

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string not_an_integer(const std::string& word) {
  if (all_digits(word)) {
    const std::size_t zeros = std::min(word.find_first_not_of('0'), word.size() - 1);
    return fmt::format("{} is not a whole number; write {}", quoted(word),
                       quoted(word.substr(zeros)));
  }
  return fmt::format("{} is not a whole number; decimal digits only", quoted(word));
}

}  // namespace

// Words that YAML takes for nothing, or for truth values.
constexpr std::array<std::string_view, 9> kNoNames{"null", "Null",  "NULL",  "true", "True",
                                                   "TRUE", "false", "False", "FALSE"};

bool is_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !text.empty() && letter(text[0]) &&
         std::find(kNoNames.begin(), kNoNames.end(), text) == kNoNames.end() &&
         std::all_of(text.begin(), text.end(),
                     [letter](char c) { return letter(c) || is_digit(c) || c == '.' || c == '-'; });
}

void Reader::error(const Node& at, std::size_t offset, const std::string& message) {
  if (diagnostics_.size() == kMostErrors) {
    ++unlisted_;
    return;
  }
  diagnostics_.push_back(diagnose(*document_, at, offset, message));
}

void Reader::finish() const {
  if (errors() > 0) {
    throw ConfigError{diagnostics_, unlisted_};
  }
}

Fields Reader::fields(const Node& map, const Words& keys) {
  Fields fields;
  fields.reader_ = this;
  fields.node_ = &map;
  for (const Entry* entry : entries(map, fmt::format("a map of {}", fmt::join(keys, ", ")))) {
    const std::string& key = entry->key.text;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      error(entry->key, fmt::format("unknown key {}{}", quoted(key), suggestion(key, keys)));
    } else {
      fields.entries_.push_back(entry);
    }
  }
  return fields;
}

std::vector<const Entry*> Reader::entries(const Node& map, std::string_view what) {
  std::vector<const Entry*> good;
  if (map.kind != Node::Kind::kMap) {
    error(map, fmt::format("expected {}, not {}", what, describe(map)));
    return good;
  }
  std::set<std::string_view> seen;
  for (const Entry& entry : map.entries) {
    const Node& key = entry.key;
    if (key.kind != Node::Kind::kScalar) {
      error(key, fmt::format("a key must be a word, not {}", describe(key)));
    } else if (key.plain && key.text == "<<") {
      error(key, "merge keys are not supported; write the keys out");
    } else if (!seen.insert(key.text).second) {
      error(key, fmt::format("duplicate key {}", quoted(key.text)));
    } else {
      good.push_back(&entry);
    }
  }
  return good;
}

std::vector<const Node*> Reader::items(const Node& list, std::string_view what) {
  std::vector<const Node*> items;
  if (list.kind != Node::Kind::kSequence) {
    error(list, fmt::format("expected {}, not {}", what, describe(list)));
  } else if (list.items.empty()) {
    error(list, fmt::format("expected {}, not an empty list", what));
  }
  for (const Node& item : list.items) {
    items.push_back(&item);
  }
  return items;
}

std::optional<std::int64_t> Reader::integer(const Node* node, std::int64_t least,
                                            std::int64_t most) {
  if (node == nullptr) {
    return std::nullopt;
  }
  if (node->kind != Node::Kind::kScalar) {
    error(*node, fmt::format("expected a whole number, not {}", describe(*node)));
    return std::nullopt;
  }
  if (!node->plain) {
    error(*node, fmt::format("expected a whole number, not {}{}", describe(*node),
                             all_digits(node->text) ? "; remove the quotes" : ""));
    return std::nullopt;
  }
  return integer_in(*node, 0, node->text, least, most);
}

std::optional<std::int64_t> Reader::integer_in(const Node& node, std::size_t offset,
                                               const std::string& word, std::int64_t least,
                                               std::int64_t most) {
  std::string_view digits = word;
  const bool negative = digits.starts_with('-');
  digits.remove_prefix(negative ? 1 : 0);
  if (!all_digits(digits) || (digits.size() > 1 && digits[0] == '0')) {
    error(node, offset, not_an_integer(word));
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (negative || (failure == std::errc{} && value < least)) {
    error(node, offset, fmt::format("{} is too small; at least {}", quoted(word), least));
    return std::nullopt;
  }
  if (failure != std::errc{} || value > most) {
    error(node, offset, fmt::format("{} is too large; at most {}", quoted(word), most));
    return std::nullopt;
  }
  return value;
}

std::optional<double> Reader::number(const Node* node, double least) {
  const std::optional<std::string> written = text(node, "a number");
  if (!written) {
    return std::nullopt;
  }
  double value = 0;
  const char* const end = written->data() + written->size();
  const auto [stop, failure] = std::from_chars(written->data(), end, value);
  if (failure != std::errc{} || stop != end || !std::isfinite(value)) {
    error(*node, fmt::format("{} is not a number", quoted(*written)));
    return std::nullopt;
  }
  if (value < least) {
    error(*node, fmt::format("{} is less than {}", quoted(*written), least));
    return std::nullopt;
  }
  return value;
}

std::optional<bool> Reader::boolean(const Node* node) {
  if (node == nullptr) {
    return std::nullopt;
  }
  const bool plain = node->kind == Node::Kind::kScalar && node->plain;
  if (plain && (node->text == "true" || node->text == "false")) {
    return node->text == "true";
  }
  error(*node, fmt::format("expected true or false, not {}", describe(*node)));
  return std::nullopt;
}

std::optional<std::string> Reader::text(const Node* node, std::string_view what) {
  if (node == nullptr) {
    return std::nullopt;
  }
  if (node->kind != Node::Kind::kScalar) {
    error(*node, fmt::format("expected {}, not {}", what, describe(*node)));
    return std::nullopt;
  }
  return node->text;
}

std::optional<std::string> Reader::name(const Node* node) {
  const std::optional<std::string> word = text(node, "a name");
  if (word && !is_name(*word)) {
    error(*node, fmt::format("{} is not a name; a name is a letter or _, then letters, digits, "
                             "_ . or -",
                             quoted(*word)));
    return std::nullopt;
  }
  return word;
}

std::optional<std::size_t> Reader::choice(const Node* node, const Words& choices,
                                          std::string_view what) {
  const std::optional<std::string> word = text(node, fmt::format("the name of a {}", what));
  return word ? choice_in(*node, 0, *word, choices, what) : std::nullopt;
}

std::optional<std::size_t> Reader::choice_in(const Node& node, std::size_t offset,
                                             const std::string& word, const Words& choices,
                                             std::string_view what) {
  const auto found = std::find(choices.begin(), choices.end(), word);
  if (found == choices.end()) {
    error(node, offset,
          fmt::format("unknown {} {}{}", what, quoted(word), suggestion(word, choices)));
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - choices.begin());
}

std::vector<std::size_t> Reader::choice_list(const Node* list, const Words& choices,
                                             std::string_view what) {
  std::vector<std::size_t> indices;
  if (list == nullptr) {
    return indices;
  }
  for (const Node* item : items(*list, fmt::format("a list of {}s", what))) {
    const std::optional<std::size_t> index = choice(item, choices, what);
    if (!index) {
      continue;
    }
    if (std::find(indices.begin(), indices.end(), *index) != indices.end()) {
      error(*item, fmt::format("{} is named twice", quoted(item->text)));
    } else {
      indices.push_back(*index);
    }
  }
  return indices;
}

const Entry* Fields::entry(std::string_view key) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [key](const Entry* entry) { return entry->key.text == key; });
  return found == entries_.end() ? nullptr : *found;
}

const Node* Fields::find(std::string_view key) const {
  const Entry* found = entry(key);
  if (found == nullptr) {
    return nullptr;
  }
  if (found->value.kind == Node::Kind::kNull) {
    reader_->error(found->value, "has no value");
    return nullptr;
  }
  return &found->value;
}

const Node* Fields::require(std::string_view key) const {
  if (!has(key) && node_->kind == Node::Kind::kMap) {
    reader_->error(*node_, fmt::format("missing key '{}'", key));
  }
  return find(key);
}

const Node& Fields::place(std::string_view key) const {
  const Entry* found = entry(key);
  return found == nullptr ? *node_ : found->value;
}

}  // namespace mapsim
