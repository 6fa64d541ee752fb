// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "check/rules.hpp"

namespace mapsim::check {

// The loop-order automaton of a region: it reads the temporal loops between two nodes from the
// outside in. With perfect factors it tracks the product of the loops over a dim; a factor may be
// read in parts. With imperfect factors it tracks only the order of dims, and allows() checks the
// number of tiles.
class Region {
 public:
  // The rule of the region: groups of dims, outermost first, and the products of the loops over
  // each dim.
  struct Rule {
    std::vector<DimSet> groups;
    PerDim<std::vector<std::int64_t>> products;
  };
  Region(const PerDim<std::int64_t>& bounds, Rule rule, bool imperfect);

  // States are numbers. 0 is the start; no loop leads to a smaller one.
  std::size_t states() const { return ends_.size(); }
  // The state after a loop whose factor divides the dim's bound (imperfect factors: kAnyFactor).
  // nullopt: the loop is not allowed.
  std::optional<std::size_t> after(std::size_t state, DimId dim, std::int64_t factor) const;
  static constexpr std::int64_t kAnyFactor = 2;
  bool may_end(std::size_t state) const { return ends_[state]; }
  // Imperfect factors: may the loops cut one tile of the dim into this number of tiles? Is any
  // number forbidden at all?
  bool allows(DimId dim, std::int64_t tiles) const;
  bool counts() const { return counts_; }

 private:
  // The group, then per tracked dim the product of its loops so far.
  using Reading = std::vector<std::int64_t>;
  std::optional<Reading> read(Reading reading, DimId dim, std::int64_t factor) const;

  Rule rule_;
  PerDim<std::vector<std::int64_t>> divisors_;
  DimSet counted_;       // dims whose products are tracked
  bool counts_ = false;  // imperfect factors: counts()
  // [state], per dim and divisor
  std::vector<PerDim<std::vector<std::optional<std::size_t>>>> after_;
  std::vector<bool> ends_;
};

// The regions of nests that use these fanouts, outermost first. A region ends where a used fanout
// is crossed. In an even space it also ends at the point of a level that may keep something, if
// there is a rule right above or below it; the level must then keep something. A node without a
// place in the nest separates nothing: the loops around it obey both rules, first the order of the
// outer one.
class Regions {
 public:
  Regions(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used);

  std::size_t size() const { return regions_.size(); }
  const Region& operator[](std::size_t region) const { return regions_[region]; }
  bool ends_at(LevelId level) const;
  // The region below this number of used fanouts and the points of the first `levels` levels.
  std::size_t behind(std::size_t fanouts, std::size_t levels) const;
  // The state on entry of region `to`; nullopt: a region on the way may not end yet.
  std::optional<std::size_t> enter(std::size_t from, std::size_t state, std::size_t to) const;
  // Imperfect factors: may a nest go on to region `to`, if region `from` began with tile `begun`
  // and ended with `tile`?
  bool allow(std::size_t from, std::size_t to, const PerDim<std::int64_t>& begun,
             const PerDim<std::int64_t>& tile) const;

 private:
  struct Border {
    std::optional<std::size_t> fanout;  // index of a used one
    LevelId level{};                    // otherwise
  };
  std::vector<Border> borders_;
  std::vector<Region> regions_;  // one more than borders
};

}  // namespace mapsim::check
