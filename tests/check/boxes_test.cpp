// SPDX-License-Identifier: Apache-2.0
// Unrollings that a certificate bounds together: the checker's boxes bound all that they hold.
#include "check/boxes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "check/closed_form_bound.hpp"
#include "proven.hpp"
#include "tests/mapper/random_space.hpp"
#include "workloads/conv.hpp"

namespace mapsim::boxes_test {
namespace {

// Two fanouts of different kinds above and below a small level, and a strided window.
Problem two_fanouts() {
  ConvShape shape;
  shape.in_channels = 2;
  shape.out_channels = 4;
  shape.kernel = {2, 2};
  shape.stride = {2, 1};
  shape.input = {8, 5};
  return {parse_arch(R"(name: two_fanouts
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 16 pJ/b, write: 16 pJ/b}, bandwidth: {shared: 16 b/cycle}}
  - {fanout: outer, x: 4, y: 2, multicast: [input], spatial_reduction: true}
  - {storage: Buffer, capacity: 40 B, energy: {read: 1 pJ/b, write: 2 pJ/b}}
  - {fanout: inner, x: 2, y: 2, multicast: [input, weight], spatial_reduction: true, reduction_energy: 2 pJ}
  - {compute: MAC, energy: 1 pJ}
)",
                     "arch"),
          conv2d("conv", shape)};
}

bool is_within(const check::ChoiceRange& one, const check::ChoiceRange& box) {
  bool within = one.most_instances <= box.most_instances;
  for (const DimId d : one.most.ids()) {
    within = within && one.most[d] >= box.least[d] && one.most[d] <= box.most[d] &&
             one.most[d] % box.common[d] == 0;
  }
  for (const TensorId t : one.most_lacking.ids()) {
    within = within && one.most_lacking[t] >= box.fewest_lacking[t] &&
             one.most_lacking[t] <= box.most_lacking[t] &&
             one.most_sharing[t] <= box.most_sharing[t];
  }
  return within;
}

// Every set of unrollings that is looked at bounds each unrolling of the space that is like those.
std::size_t boxes_hold(const Problem& problem, const Constraints& constraints,
                       const Objective& objective, std::size_t every) {
  const check::Certificate proof =
      check::parse_certificate(proof_of(problem, constraints, objective), "proof");
  std::vector<check::Unrolling> all = check::list_unrollings(proof.problem, proof.rules);
  std::vector<check::ChoiceRanges> ranges;
  for (const check::Unrolling& unrolling : all) {
    ranges.push_back(check::ranges_of(proof.problem.workload(), unrolling.factors));
  }
  std::size_t checked = 0;
  std::size_t boxes = 0;
  std::size_t visited = 0;
  const auto look = [&](const check::ChoiceRanges& box) {
    if (boxes++ % every != 0) {
      return false;
    }
    for (const check::Paths paths :
         {check::Paths::kAlone, check::Paths::kTogether, check::Paths::kByPhases}) {
      const check::Figures floor =
          closed_form_bound(proof.problem, proof.rules, proof.goal, box, paths);
      for (std::size_t u = 0; u < all.size(); ++u) {
        bool within = true;
        for (const FanoutId f : box.ids()) {
          within = within && is_within(ranges[u][f], box[f]);
        }
        if (within) {
          const check::Figures own =
              closed_form_bound(proof.problem, proof.rules, proof.goal, all[u], paths);
          EXPECT_FALSE(check::exceeds(floor.first, own.first)) << floor.first << " " << own.first;
          EXPECT_FALSE(check::exceeds(floor.second, own.second));
          ++checked;
        }
      }
    }
    return false;
  };
  visit_open(proof.problem, proof.rules, look, [&](const check::Unrolling& unrolling) {
    ++visited;
    EXPECT_TRUE(is_in_space(proof.problem, proof.rules, unrolling));
  });
  EXPECT_EQ(visited, all.size());
  std::int64_t classes = 0;
  std::int64_t assignments = 0;
  for (const check::Bundle& bundle : list_bundles(proof.problem, proof.rules)) {
    classes += bundle.classes;
    assignments += bundle.assignments;
  }
  EXPECT_EQ(classes, std::ssize(all));
  for (const check::Unrolling& unrolling : all) {
    assignments -= unrolling.assignments;
  }
  EXPECT_EQ(assignments, 0);
  return checked;
}

TEST(CheckerBoxes, BoundAllUnrollingsThatTheyHold) {
  std::size_t checked = 0;
  for (std::uint64_t seed = 4'000; seed < 4'060; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random =
        seed % 3 == 0 ? random_systolic_space(seed, 20'000) : random_space(seed, 20'000);
    checked += boxes_hold(random.problem, random.constraints,
                          seed % 2 == 0 ? Objective::kEnergy : Objective::kEdp, 1);
  }
  EXPECT_GT(checked, 1'000U);
  EXPECT_GT(boxes_hold(two_fanouts(), {}, Objective::kEdp, 23), 1'000U);
}

// Most unrollings have no bound of their own, and none may be better than claimed of them.
TEST(CheckerBoxes, CloseWhatIsBoundedTogether) {
  for (const Objective& objective : {Objective::kEnergy, Objective::kEdp, Objective::kLatency}) {
    const std::string proof = proof_of(two_fanouts(), {}, objective);
    EXPECT_THAT(proof, testing::HasSubstr("  - {others: "));
    EXPECT_EQ(faults_of(proof), "");
    const check::Certificate read = check::parse_certificate(proof, "proof");
    const check::Verdict verdict = check::check_certificate(read, {});
    EXPECT_GT(verdict.by_unrolling_bound,
              2 * (verdict.by_completion_bound + verdict.by_label_search));
    EXPECT_EQ(verdict.by_unrolling_bound + verdict.by_completion_bound + verdict.by_label_search,
              std::ssize(check::list_unrollings(read.problem, read.rules)));
  }
}

TEST(CheckerBoxes, RefuteBoundsThatDoNotHold) {
  const std::string proof = proof_of(two_fanouts(), {}, Objective::kEnergy);
  const auto unit = proof.find(" pJ", proof.find("value: "));
  const std::string value =
      proof.substr(proof.find("value: ") + 7, unit - proof.find("value: ") - 7);
  // All bounds but that of the others are gone: the best mapping is one of theirs.
  const std::string too_much = altered(
      proof, "bounds:\n",
      "digest: ", "bounds:\n  - {others: " + std::to_string(2 * std::stod(value)) + " pJ}\n");
  EXPECT_THAT(faults_of(too_much), testing::HasSubstr("where there is a mapping of"));
  const std::string enough =
      altered(proof, "bounds:\n", "digest: ", "bounds:\n  - {others: " + value + " pJ}\n");
  EXPECT_EQ(faults_of(enough), "");
  const std::string none = altered(proof, "  - {others: ", "digest: ", "");
  EXPECT_THAT(faults_of(none), testing::HasSubstr("no bound of the unrolling"));
  const std::string twice = altered(
      proof, "  - {others: ", "digest: ", "  - {others: " + value + " pJ}\n  - {others: 1 pJ}\n");
  EXPECT_THAT(faults_of(twice), testing::HasSubstr("a second bound of all other unrollings"));
}

}  // namespace
}  // namespace mapsim::boxes_test
