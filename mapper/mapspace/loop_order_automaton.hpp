// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/index.hpp"
#include "costmodel/mapping.hpp"
#include "mapper/mapspace/rules.hpp"

namespace mapsim {

class Mapspace;

// The loops that a region of a nest may have, as an automaton that reads them from the outside in.
// Its states are numbers; 0 is the start, and a loop never leads to a smaller one. It sees what
// adjacent loops over a dim multiply to, not how they are cut. With imperfect factors that is how
// many tiles the region makes of one, ceil(extent above it / extent below it): no state knows it,
// and who reads asks allows() where the region ends.
class Region {
 public:
  // Of dims with these bounds: what a rule allows, without loops over `exhausted`; null: no rule.
  Region(const PerDim<std::int64_t>& bounds, const LoopRule* rule, DimSet exhausted,
         bool imperfect);

  // The loops of this region, then those of `inner`, with nothing to tell where one ends.
  Region joined_with(const Region& inner) const;

  std::size_t states() const { return states_; }
  // Where a loop of this factor leads; nullopt: there must be none, or of no such factor.
  std::optional<std::size_t> after(std::size_t state, DimId dim, std::int64_t factor) const;
  bool may_end(std::size_t state) const;
  // Imperfect: may the region make so many tiles of the dim?
  bool allows(DimId dim, std::int64_t tiles) const;
  // Does the order of loops matter?
  bool is_ordered() const { return groups_.size() > 1; }
  // Does it matter to what the loops over `dim` multiply?
  bool tracks(DimId dim) const;
  // The groups that a dim is in, as bits: dims with equal ones are alike, unless tracked.
  std::uint64_t groups_of(DimId dim) const;

 private:
  struct Tracked {
    DimId dim{};
    std::vector<std::int64_t> products;  // those that can still become allowed ones, ascending
    std::vector<bool> allowed;
    std::size_t stride = 1;
  };
  void settle();
  void settle_imperfect();

  bool imperfect_;
  PerDim<std::int64_t> bounds_;
  PerDim<std::vector<Allowed>> parts_;          // imperfect: of the regions that are joined in this
  PerDim<std::vector<std::int64_t>> divisors_;  // of the bounds
  PerDim<std::vector<std::int64_t>> factors_;   // those that the loops may multiply to
  std::vector<DimSet> groups_;
  std::vector<Tracked> tracked_;
  std::size_t stride_ = 1;  // of the group in a state
  std::size_t states_ = 1;
};

// The regions of the nests that use the same fanouts, outermost first, and what parts them.
class Regions {
 public:
  Regions(const Mapspace& space, const std::vector<FanoutId>& used);

  // What stands between two regions: a used fanout or (even spaces) a level, which must keep
  // something.
  struct Border {
    std::optional<std::size_t> fanout;  // index in the list of used fanouts
    LevelId level{};                    // otherwise
    friend bool operator==(const Border&, const Border&) = default;
  };
  const std::vector<Border>& borders() const { return borders_; }
  const Region& operator[](std::size_t region) const { return regions_[region]; }
  std::size_t size() const { return regions_.size(); }
  bool is_border(LevelId level) const;
  // The region below `fanouts` used fanouts and, in an even space, the point of `level`.
  std::size_t below(std::size_t fanouts, std::size_t level) const;

  // A nest in the making, as the rules see it.
  struct State {
    std::size_t region = 0;
    std::size_t of_region = 0;
  };
  std::optional<State> after_loop(State state, DimId dim, std::int64_t factor) const;
  std::optional<State> enter(State state, std::size_t region) const;  // `region` or further in
  bool may_end(State state) const;
  // Imperfect: may a nest go on to `region` with tiles that region `from` has begun as one, and
  // that have become the other? What lies between is without loops.
  bool allow(std::size_t from, std::size_t region, const PerDim<std::int64_t>& begun,
             const PerDim<std::int64_t>& tile) const;

 private:
  std::vector<Border> borders_;
  std::vector<Region> regions_;  // one more than borders
};

// May a tile of these extents be kept there, with `left` of each dim to temporal loops further in
// (imperfect: 1, whoever asks bars those loops)?
bool fits_rules(const std::vector<ExtentRule>& rules, LevelId level, TensorSet tensors,
                const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& left);

// Dims that no temporal loop may cut below these keeps, by rules for extents.
DimSet done_below(const std::vector<ExtentRule>& rules, LevelId level, TensorSet tensors);

// Does a mapping with extents and keeps as the space allows obey its rules for extents and loops?
bool obeys_rules(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
