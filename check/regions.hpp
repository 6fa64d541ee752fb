// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "check/rules.hpp"

namespace mapsim::check {

// The temporal loops between two nodes, as a machine that reads them from the outside in. It sees
// what the loops over a dim multiply to, not how they are cut: a factor may be read in parts. With
// imperfect factors it sees only their order, and allows() says how many tiles there may be.
class Region {
 public:
  // What it allows: groups of dims, outermost first, and what the loops over a dim multiply to.
  struct Rule {
    std::vector<DimSet> groups;
    PerDim<std::vector<std::int64_t>> products;
  };
  Region(const PerDim<std::int64_t>& bounds, Rule rule, bool imperfect);

  // A state has a number; 0 before any loop, and no loop leads to a smaller one.
  std::size_t states() const { return ends_.size(); }
  // Where a loop leads, its factor one that divides the dim's bound (imperfect: kAnyFactor);
  // nullopt: it is not allowed.
  std::optional<std::size_t> after(std::size_t state, DimId dim, std::int64_t factor) const;
  static constexpr std::int64_t kAnyFactor = 2;
  bool may_end(std::size_t state) const { return ends_[state]; }
  // Imperfect: may the loops make so many tiles of one of the dim? At all, only some numbers of it?
  bool allows(DimId dim, std::int64_t tiles) const;
  bool counts() const { return counts_; }

 private:
  // The group, then what the loops over each dim have multiplied to where that matters.
  using Reading = std::vector<std::int64_t>;
  std::optional<Reading> read(Reading reading, DimId dim, std::int64_t factor) const;

  Rule rule_;
  PerDim<std::vector<std::int64_t>> divisors_;
  DimSet counted_;       // dims whose products matter
  bool counts_ = false;  // imperfect
  std::vector<PerDim<std::vector<std::optional<std::size_t>>>> after_;  // per divisor
  std::vector<bool> ends_;
};

// The regions of nests that use these fanouts, outermost first. They end where a used fanout is
// crossed and, in an even space, at the point of a level that may keep something, if there is a
// rule right above or below it; it must keep something then. A node without a place in the nest
// parts nothing: the loops around it obey both rules, the outer one's order first.
class Regions {
 public:
  Regions(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used);

  std::size_t size() const { return regions_.size(); }
  const Region& operator[](std::size_t region) const { return regions_[region]; }
  bool ends_at(LevelId level) const;
  // The region behind so many used fanouts and the points of the first `levels` levels.
  std::size_t behind(std::size_t fanouts, std::size_t levels) const;
  // The state on coming to region `to` from a state of `from`; nullopt: one on the way is not done.
  std::optional<std::size_t> enter(std::size_t from, std::size_t state, std::size_t to) const;
  // Imperfect: may a nest go on to region `to`, with tiles that region `from` has begun as one and
  // that have become the other?
  bool allow(std::size_t from, std::size_t to, const PerDim<std::int64_t>& begun,
             const PerDim<std::int64_t>& tile) const;

 private:
  struct Border {
    std::optional<std::size_t> fanout;  // index of a used one
    LevelId level{};                    // otherwise
  };
  std::vector<Border> borders_;
  std::vector<Region> regions_;  // one more
};

}  // namespace mapsim::check
