// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/document.hpp"
#include "core/edit_distance.hpp"
#include "core/quantity_text.hpp"

namespace mapsim {

class Fields;

// The largest whole number that a file may hold: every one up to it is exact in a double.
inline constexpr std::int64_t kMaxInteger = std::int64_t{1} << 53;

// Reads typed values out of a document and collects everything that is wrong with it. A read of
// something absent (nullptr) is nothing; a read of something wrong is an error and nothing. So a
// loader reads straight on, and finish() throws once, with all errors of the file.
class Reader {
 public:
  explicit Reader(const Document& document) : document_{&document} {}

  const Node& root() const { return document_->root; }
  const std::string& file() const { return document_->file; }

  void error(const Node& at, const std::string& message) { error(at, 0, message); }
  // At byte `offset` of a scalar's text.
  void error(const Node& at, std::size_t offset, const std::string& message);
  std::size_t errors() const { return diagnostics_.size() + unlisted_; }  // so far
  void finish() const;  // throws ConfigError if there was an error

  // A map with these keys and no others. Not a map: an error, and a map without keys.
  Fields fields(const Node& map, const Words& keys);
  // The entries of a map with free keys; errors: duplicate keys, merge keys, keys that are no text.
  std::vector<const Entry*> entries(const Node& map, std::string_view what);
  // The items of a list of at least one.
  std::vector<const Node*> items(const Node& list, std::string_view what);

  // Decimal digits only: 010, 1e3, 0x10, "12" and the like are errors. 0 <= least <= most.
  std::optional<std::int64_t> integer(const Node* node, std::int64_t least, std::int64_t most);
  // A plain decimal number, 1.5 or 1e-9, at least `least`.
  std::optional<double> number(const Node* node, double least);
  std::optional<bool> boolean(const Node* node);  // true or false, nothing else
  std::optional<std::string> text(const Node* node, std::string_view what);
  std::optional<std::string> name(const Node* node);  // [A-Za-z_][A-Za-z0-9_.-]*
  // The index of a word in `choices`.
  std::optional<std::size_t> choice(const Node* node, const Words& choices, std::string_view what);
  // The same for a part of a scalar, `word` at byte `offset` of its text.
  std::optional<std::int64_t> integer_in(const Node& node, std::size_t offset,
                                         const std::string& word, std::int64_t least,
                                         std::int64_t most);
  std::optional<std::size_t> choice_in(const Node& node, std::size_t offset,
                                       const std::string& word, const Words& choices,
                                       std::string_view what);
  // The indices of a list of distinct words, in the order of the file.
  std::vector<std::size_t> choice_list(const Node* list, const Words& choices,
                                       std::string_view what);

  // A number with a unit; `parse` is one of core/quantity_text.hpp, or a lambda around one.
  template <class Parse>
  auto quantity(const Node* node, const Parse& parse)
      -> std::optional<std::variant_alternative_t<0, decltype(parse(std::string_view{}))>> {
    const std::optional<std::string> written = text(node, "a number with a unit");
    if (!written) {
      return std::nullopt;
    }
    const auto parsed = parse(std::string_view{*written});
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
      error(*node, *problem);
      return std::nullopt;
    }
    return std::get<0>(parsed);
  }

 private:
  const Document* document_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t unlisted_ = 0;
};

// A map whose keys are known. Refers to its reader and its node.
class Fields {
 public:
  // nullptr: the key is absent, or it has no value; the latter is an error.
  const Node* find(std::string_view key) const;
  const Node* require(std::string_view key) const;  // absent is an error, too
  bool has(std::string_view key) const { return entry(key) != nullptr; }
  const Node& node() const { return *node_; }
  // The value, or the map where there is none: where to report what concerns the key.
  const Node& place(std::string_view key) const;

 private:
  friend class Reader;
  const Entry* entry(std::string_view key) const;
  Reader* reader_ = nullptr;
  const Node* node_ = nullptr;
  std::vector<const Entry*> entries_;
};

// May a thing be called so? YAML's words for nothing and for truth values may not.
bool is_name(std::string_view text);

}  // namespace mapsim
