// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/exact/labels.hpp"
#include "random_space.hpp"

namespace mapsim {
namespace {

using exact::Instance;

constexpr std::uint64_t kSpaces = 150;

// Calls visit(instance) for every unrolling of random spaces in which something may fit.
void for_each_instance(const Objective& objective, const std::function<void(Instance&)>& visit) {
  for (std::uint64_t seed = 90'000; seed < 90'000 + kSpaces; ++seed) {
    const SearchCase random = random_space(seed, 1'000'000);
    const Mapspace space(random.problem, random.constraints);
    for (const UnrollingGroup& group : space.group_by_factors()) {
      exact::Unrolled unrolled(space.problem(), group);
      const exact::Skeleton skeleton(space, unrolled.used);
      Instance instance(skeleton, std::move(unrolled), objective);
      if (instance.root().first < exact::kInfinity) {
        visit(instance);
      }
    }
  }
}

exact::LabelResult search(Instance& instance, std::optional<std::int64_t> price_after) {
  exact::Quest quest;
  quest.price_after = price_after;
  const SearchOptions options;
  return exact::search_labels(instance, quest, Patience(options));
}

std::vector<std::size_t> contended_rooms(const exact::Skeleton& skeleton) {
  std::vector<std::size_t> rooms;
  for (std::size_t r = 0; r < skeleton.rooms().size(); ++r) {
    if (skeleton.rooms()[r].contended && skeleton.rooms()[r].level != LevelId{0}) {
      rooms.push_back(r);
    }
  }
  return rooms;
}

// Everything that the prices leave at the start.
exact::Outlook priced_root(const Instance& instance, const exact::Prices& prices,
                           const std::vector<std::size_t>& rooms, std::vector<exact::Line>& lines) {
  double refund = 0;
  for (const std::size_t r : rooms) {
    refund += prices.price(r) * instance.skeleton.rooms()[r].bits;
  }
  const std::vector<double> nothing(1 + instance.skeleton.ports().size() + 1, 0.0);
  const std::size_t whole = instance.unrolled.lattices.front().size() - 1;
  exact::Outlook widest{exact::kInfinity};
  exact::Key least;
  for (const std::size_t pointers : instance.skeleton.starts()) {
    std::vector<exact::Line> here;
    exact::Outlook outlook;
    prices.narrow({0, pointers, whole}, nothing.data(), refund, outlook, here);
    outlook.lines = here;
    if (instance.valuation.key(outlook) < least) {
      least = instance.valuation.key(outlook);
      widest = outlook;
      lines = here;
    }
  }
  widest.lines = lines;
  return widest;
}

TEST(Prices, RaiseTheBoundAndNeverAboveTheOptimum) {
  int raised = 0;
  for (const Objective& objective : {Objective::kEnergy, Objective::kEdp, Objective::kLatency}) {
    for_each_instance(objective, [&](Instance& instance) {
      const std::vector<std::size_t> rooms = contended_rooms(instance.skeleton);
      const exact::LabelResult best = search(instance, std::nullopt);
      if (best.endings.empty()) {
        return;
      }
      const exact::Key optimum = best.endings.front().key;
      const auto aim = [&](const exact::Outlook& root) -> std::optional<exact::Aim> {
        const exact::Corner corner = instance.valuation.corner(root);
        return exact::Aim{1.5 * corner.energy, 1.5 * corner.latency,
                          !objective.function.uses_energy()};
      };
      for (const exact::Prices& prices : exact::find_prices(instance, rooms, aim)) {
        std::vector<exact::Line> lines;
        const exact::Outlook root = priced_root(instance, prices, rooms, lines);
        EXPECT_LE(instance.valuation.key(root).first, optimum.first * (1 + 1e-9));
        ++raised;
      }
    });
  }
  EXPECT_GT(raised, 150);
}

TEST(Prices, ChangeNoOptimum) {
  const LatencyMode ramped = LatencyMode::kRamped;
  for (const Objective& objective : {Objective::kEnergy, Objective::kEdp, Objective::kLatency,
                                     Objective{ObjectiveFunction::product(2, 1)},
                                     Objective{ObjectiveFunction::product(0, 1), false, ramped},
                                     Objective{ObjectiveFunction::product(1, 1), false, ramped}}) {
    std::int64_t without = 0;
    std::int64_t with = 0;
    for_each_instance(objective, [&](Instance& instance) {
      const exact::LabelResult plain = search(instance, std::nullopt);
      const exact::LabelResult priced = search(instance, 0);
      ASSERT_EQ(plain.endings.size(), priced.endings.size());
      if (!plain.endings.empty()) {
        const exact::Key optimum = plain.endings.front().key;
        EXPECT_NEAR(priced.endings.front().key.first, optimum.first, 1e-9 * optimum.first);
        EXPECT_NEAR(priced.endings.front().key.second, optimum.second, 1e-9 * optimum.second);
      }
      without += plain.expanded;
      with += priced.expanded;
    });
    EXPECT_LT(with, without) << to_string(objective);
  }
}

TEST(Prices, ChangeNothingWithinLimits) {
  int bound = 0;
  for_each_instance(Objective::kEdp, [&](Instance& instance) {
    const exact::LabelResult best = search(instance, std::nullopt);
    if (best.endings.empty()) {
      return;
    }
    const exact::Key edp = best.endings.front().key;
    const Cycles cycles{static_cast<std::int64_t>(std::round(edp.first / edp.second))};
    for (const Objective& objective :
         {Objective{ObjectiveFunction::product(1, 0), false, LatencyMode::kSteady, std::nullopt,
                    cycles},
          Objective{ObjectiveFunction::product(0, 1), false, LatencyMode::kSteady,
                    Picojoules{edp.second}, std::nullopt}}) {
      Instance limited(instance.skeleton, instance.unrolled, objective);
      const exact::LabelResult plain = search(limited, std::nullopt);
      const exact::LabelResult priced = search(limited, 0);
      ASSERT_EQ(plain.endings.size(), 1U);
      ASSERT_EQ(priced.endings.size(), 1U);
      const double optimum = plain.endings.front().key.first;
      EXPECT_NEAR(priced.endings.front().key.first, optimum, 1e-9 * optimum);
      bound += priced.expanded < plain.expanded ? 1 : 0;
    }
  });
  EXPECT_GT(bound, 20);
}

TEST(Prices, ChangeNoFront) {
  std::int64_t without = 0;
  std::int64_t with = 0;
  std::size_t longest = 0;
  for (const LatencyMode mode : {LatencyMode::kSteady, LatencyMode::kRamped}) {
    for_each_instance(
        Objective{ObjectiveFunction::product(1, 0), true, mode}, [&](Instance& instance) {
          exact::Quest quest;
          quest.covered.emplace();
          const SearchOptions options;
          const exact::LabelResult plain = exact::search_labels(instance, quest, Patience(options));
          quest.price_after = 4;
          const exact::LabelResult priced =
              exact::search_labels(instance, quest, Patience(options));
          ASSERT_EQ(plain.endings.size(), priced.endings.size());
          for (std::size_t i = 0; i < plain.endings.size(); ++i) {
            const exact::Key key = plain.endings[i].key;
            EXPECT_NEAR(priced.endings[i].key.first, key.first, 1e-9 * key.first);
            EXPECT_EQ(priced.endings[i].key.second, key.second);
          }
          without += plain.expanded;
          with += priced.expanded;
          longest = std::max(longest, plain.endings.size());
        });
  }
  EXPECT_LE(with, without);
  EXPECT_GE(longest, 3U);
}

}  // namespace
}  // namespace mapsim
