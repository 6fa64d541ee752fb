// SPDX-License-Identifier: Apache-2.0
#include "core/edit_distance.hpp"

#include <gtest/gtest.h>

#include "core/rng.hpp"

namespace mapsim::edit_distance_test {
namespace {

TEST(EditDistance, CountsSlips) {
  EXPECT_EQ(edit_distance("word", "word"), 0U);
  EXPECT_EQ(edit_distance("word", "wrod"), 1U);
  EXPECT_EQ(edit_distance("ab", "ca"), 2U);  // one of two that a swap would need
  EXPECT_EQ(edit_distance("ab", "bc"), 2U);
  EXPECT_EQ(edit_distance("word", "words"), 1U);
  EXPECT_EQ(edit_distance("word", "ward"), 1U);
  EXPECT_EQ(edit_distance("", "word"), 4U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

std::string random_word(Rng& rng) {
  std::string word;
  for (std::uint64_t length = rng.below(7); length > 0; --length) {
    word += static_cast<char>('a' + rng.below(3));
  }
  return word;
}

TEST(EditDistance, IsSymmetricAndZeroOnlyForEquals) {
  Rng rng{1};
  for (int i = 0; i < 2000; ++i) {
    const std::string a = random_word(rng);
    const std::string b = random_word(rng);
    EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << ' ' << b;
    EXPECT_EQ(edit_distance(a, b) == 0, a == b) << a << ' ' << b;
    EXPECT_LE(edit_distance(a, b), std::max(a.size(), b.size())) << a << ' ' << b;
  }
}

TEST(Suggestion, NamesTheNearestWordWhateverItsCase) {
  const Words known{"bandwidth", "energy", "Capacity"};
  EXPECT_EQ(suggestion("bandwith", known), "; did you mean 'bandwidth'?");
  EXPECT_EQ(suggestion("ENERGY", known), "; did you mean 'energy'?");
  EXPECT_EQ(suggestion("capasity", known), "; did you mean 'Capacity'?");
}

TEST(Suggestion, NamesTheOnlyWordThatBeginsSo) {
  EXPECT_EQ(suggestion("--obj", {"--out", "--objective"}), "; did you mean '--objective'?");
  EXPECT_EQ(suggestion("Cap", {"map", "capacity"}), "; did you mean 'capacity'?");
  EXPECT_EQ(suggestion("--max", {"--mac", "--max-area", "--max-power"}), "; did you mean '--mac'?");
  EXPECT_EQ(suggestion("--o", {"--x", "--objective"}), "; did you mean '--x'?");
}

TEST(Suggestion, ListsTheWordsWhereNoneIsNear) {
  EXPECT_EQ(suggestion("colour", {"x", "y"}), "; one of x, y");
  EXPECT_EQ(suggestion("colour", {"x"}), "; only x");
  // A character that differs is half of a word of two; one may be missing.
  EXPECT_EQ(suggestion("f8", {"s8", "f16"}), "; one of s8, f16");
  EXPECT_EQ(suggestion("f8", {"s8", "fp8"}), "; did you mean 'fp8'?");
  EXPECT_EQ(suggestion("colour", {}), "");
  EXPECT_EQ(suggestion(std::string(1'000'000, 'x'), {"x"}), "; only x");
}

}  // namespace
}  // namespace mapsim::edit_distance_test
