// SPDX-License-Identifier: Apache-2.0
// Chain by chain: partial choices that another one beats in both figures are left out.
#include "campaign/limited_choice.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "campaign/undominated.hpp"

namespace mapsim {

namespace {

using fusion::HullLimits;
using fusion::HullPoint;

constexpr std::size_t kMost = 2'000;  // partial choices that are kept

// So many copies have the point `one`, and the others the point `other`.
struct Division {
  std::size_t one = 0, other = 0;
  std::int64_t copies = 0;
  HullPoint sum{};
};
struct Partial {
  HullPoint sum{};
  std::size_t before = 0;  // of the chains before
  Division division{};     // of this chain
};

bool is_faster(const HullPoint& a, const HullPoint& b) {
  return std::tuple{a.cycles, a.energy} < std::tuple{b.cycles, b.energy};
}

// Of these points, fastest first, the vertices of their lower convex hull: mixtures of two others
// are beaten by mixtures of two neighbours here.
std::vector<std::size_t> hull_of(const std::vector<HullPoint>& points,
                                 const std::vector<std::size_t>& kept) {
  std::vector<std::size_t> hull;
  for (const std::size_t i : kept) {
    const auto is_above = [&](const HullPoint& a, const HullPoint& b) {
      const HullPoint& c = points[i];
      return (b.energy - a.energy) * (c.cycles - a.cycles) >=
             (c.energy - a.energy) * (b.cycles - a.cycles);
    };
    while (hull.size() > 1 && is_above(points[hull[hull.size() - 2]], points[hull.back()])) {
      hull.pop_back();
    }
    hull.push_back(i);
  }
  return hull;
}

std::vector<Division> divisions_of(const CopiesOfChain& chain) {
  std::vector<Division> divisions;
  const std::vector<std::size_t> kept = undominated(chain.points);
  const auto add = [&](std::size_t one, std::size_t other, std::int64_t copies) {
    const HullPoint &a = chain.points[one], &b = chain.points[other];
    const auto of_one = static_cast<double>(copies);
    const auto of_other = static_cast<double>(chain.count - copies);
    divisions.push_back(
        {one,
         other,
         copies,
         {of_one * a.energy + of_other * b.energy, of_one * a.cycles + of_other * b.cycles}});
  };
  for (const std::size_t i : kept) {
    add(i, i, chain.count);
  }
  const std::vector<std::size_t> hull = hull_of(chain.points, kept);
  for (std::size_t i = 0; i + 1 < hull.size(); ++i) {
    for (std::int64_t copies = 1; copies < chain.count; ++copies) {
      add(hull[i], hull[i + 1], copies);
    }
  }
  return divisions;
}

std::vector<Partial> next(const std::vector<Partial>& before, const CopiesOfChain& chain,
                          const HullLimits& limits) {
  const std::vector<Division> divisions = divisions_of(chain);
  std::vector<Partial> all;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (const Division& division : divisions) {
      const HullPoint sum{before[i].sum.energy + division.sum.energy,
                          before[i].sum.cycles + division.sum.cycles};
      if (limits.allow(sum)) {
        all.push_back({sum, i, division});
      }
    }
  }
  std::ranges::stable_sort(
      all, [](const Partial& a, const Partial& b) { return is_faster(a.sum, b.sum); });
  std::vector<Partial> kept;
  for (const Partial& partial : all) {
    if (kept.empty() || partial.sum.energy < kept.back().sum.energy) {
      kept.push_back(partial);
    }
  }
  if (kept.size() > kMost) {  // evenly, with both ends
    std::vector<Partial> some;
    for (std::size_t i = 0; i < kMost; ++i) {
      some.push_back(kept[i * (kept.size() - 1) / (kMost - 1)]);
    }
    kept = std::move(some);
  }
  return kept;
}

}  // namespace

std::optional<ChoiceOfCopies> choose_copies(const ObjectiveFunction& function,
                                            const HullLimits& limits, const HullPoint& streams,
                                            const std::vector<CopiesOfChain>& chains) {
  std::vector<std::vector<Partial>> all{{Partial{streams}}};
  for (const CopiesOfChain& chain : chains) {
    all.push_back(chain.points.empty() ? all.back() : next(all.back(), chain, limits));
    for (std::size_t i = 0; chain.points.empty() && i < all.back().size(); ++i) {
      all.back()[i].before = i;
    }
  }
  const auto value = [&](const Partial& partial) {
    return limits.allow(partial.sum) ? function.value(partial.sum.energy, partial.sum.cycles)
                                     : std::numeric_limits<double>::infinity();
  };
  const auto best = std::ranges::min_element(all.back(), {}, value);
  if (best == all.back().end() || !limits.allow(best->sum)) {
    return std::nullopt;
  }
  ChoiceOfCopies choice{best->sum, {}};
  choice.copies.resize(chains.size());
  auto at = static_cast<std::size_t>(best - all.back().begin());
  for (std::size_t i = chains.size(); i-- > 0;) {
    const Partial& partial = all[i + 1][at];
    const Division& division = partial.division;
    if (!chains[i].points.empty()) {
      choice.copies[i].emplace_back(division.one, division.copies);
      if (division.copies < chains[i].count) {
        choice.copies[i].emplace_back(division.other, chains[i].count - division.copies);
      }
    }
    at = partial.before;
  }
  return choice;
}

}  // namespace mapsim
