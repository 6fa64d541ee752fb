// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mapper/membership.hpp"
#include "random_space.hpp"

namespace mapsim::outside_test {
namespace {

std::vector<Mapping> mappings_of(const Mapspace& space) {
  std::vector<Mapping> all;
  space.enumerate([&](const Mapping& mapping) {
    all.push_back(mapping);
    return true;
  });
  return all;
}

// Neighbouring parallel loops of one fanout over different dims change places.
Mapping with_parallels_turned(Mapping mapping) {
  for (std::size_t i = 1; i < mapping.nodes.size(); ++i) {
    const auto* outer = std::get_if<Parallel>(&mapping.nodes[i - 1]);
    const auto* inner = std::get_if<Parallel>(&mapping.nodes[i]);
    if (outer != nullptr && inner != nullptr && outer->fanout == inner->fanout &&
        outer->dim != inner->dim) {
      std::swap(mapping.nodes[i - 1], mapping.nodes[i]);
      return mapping;
    }
  }
  return mapping;
}

TEST(WhyOutside, IsEmptyOfWhatIsEnumerated) {
  int turned = 0;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    const SearchCase random = seed % 4 == 0   ? random_space(seed, 400)
                              : seed % 4 == 1 ? random_ruled_space(seed, 400)
                              : seed % 4 == 2 ? random_ruled_imperfect_space(seed, 400)
                                              : random_imperfect_space(seed, 400);
    const Mapspace space{random.problem, random.constraints};
    for (const Mapping& mapping : mappings_of(space)) {
      ASSERT_EQ(why_outside_of(space, mapping), "") << "seed " << seed;
      const Mapping other = with_parallels_turned(mapping);
      ASSERT_EQ(why_outside_of(space, other), "") << "seed " << seed;
      turned += other == mapping ? 0 : 1;
    }
  }
  EXPECT_GT(turned, 100);
}

// Of the mappings of a wider space it refuses those that the narrower one does not enumerate.
TEST(WhyOutside, NamesWhatIsNotEnumerated) {
  std::set<std::string> reasons;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const SearchCase random = seed % 3 == 0   ? random_space(seed, 300)
                              : seed % 3 == 1 ? random_ruled_space(seed, 300)
                                              : random_ruled_imperfect_space(seed, 300);
    const Mapspace space{random.problem, random.constraints};
    const std::vector<Mapping> members = mappings_of(space);
    Constraints free;
    free.factors = random.constraints.factors;
    const Mapspace wide{random.problem, free};
    int looked_at = 0;
    wide.enumerate([&](const Mapping& mapping) {
      const std::string why = why_outside_of(space, mapping);
      const bool inside = std::find(members.begin(), members.end(), mapping) != members.end();
      EXPECT_EQ(why.empty(), inside) << "seed " << seed << ": " << why;
      reasons.insert(why.substr(0, why.find(' ')));
      return ++looked_at < 300;
    });
  }
  EXPECT_THAT(reasons, ::testing::IsSupersetOf({"it", "its", "the"}));
}

// An imperfect mapping with an extent that does not divide is outside of the perfect space, one of
// perfect factors in both.
TEST(WhyOutside, TellsPartialTilesFromPerfectOnes) {
  int partial = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 400);
    Constraints constraints = random.constraints;
    constraints.factors = {};
    const Mapspace perfect{random.problem, constraints};
    const std::vector<Mapping> members = mappings_of(perfect);
    for (const Mapping& mapping : mappings_of(Mapspace{random.problem, random.constraints})) {
      const std::string why = why_outside_of(perfect, mapping);
      const bool inside = std::find(members.begin(), members.end(), mapping) != members.end();
      ASSERT_EQ(why.empty(), inside) << "seed " << seed << ": " << why;
      partial += why.ends_with("partial") ? 1 : 0;
    }
  }
  EXPECT_GT(partial, 100);
}

}  // namespace
}  // namespace mapsim::outside_test
