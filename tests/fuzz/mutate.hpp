// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/rng.hpp"

namespace mapsim {

// What the inputs of a reader are made of, so that a mutation changes a value, an entry or a row in
// place of a byte that only the parser sees.
enum class InputForm : std::uint8_t {
  kText,  // words, numbers and lines
  kTree,  // YAML or JSON: values and entries; where the text is neither, as kText
  kWire,  // protobuf messages: fields
};

// Between the documents of an input that has several.
inline constexpr const char* kNextDocument = "\n%%%\n";

// One to four changes, drawn by `rng`. At most `most` bytes come back.
std::string mutate(InputForm form, const std::string& input, std::size_t most, Rng& rng);

// What the forms share: a word for a number of `text`, or any word, often at the end of a range.
std::string with_another_number(const std::string& text, Rng& rng);
std::string mutate_text(const std::string& text, Rng& rng);
std::string mutate_tree(const std::string& text, Rng& rng);
std::string mutate_wire(const std::string& bytes, Rng& rng);

template <class List>
auto& one_of(List& list, Rng& rng) {
  return list[static_cast<std::size_t>(rng.below(list.size()))];
}

}  // namespace mapsim
