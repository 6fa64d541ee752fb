// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mapsim {

using Words = std::vector<std::string>;

// Least number of slips that turn `a` into `b`: a character inserted, deleted, replaced, or swapped
// with its neighbour (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The word of `known` that is `word` but for a slip in three characters, upper and lower case being
// the same; nullopt: none is.
std::optional<std::string> nearest_word(std::string_view word, const Words& known);

// "; did you mean 'bytes'?" when a word of `known` is close to `word`; else "; one of a, b, c" when
// there are few enough to list; else nothing.
std::string suggestion(std::string_view word, const Words& known);

// Names of a range of things that have one.
template <class Range>
Words names_of(const Range& things) {
  Words names;
  for (const auto& thing : things) {
    names.emplace_back(thing.name);
  }
  return names;
}

}  // namespace mapsim
