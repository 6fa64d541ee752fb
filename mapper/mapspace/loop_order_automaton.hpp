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

// The loop-order automaton of a region. A region is the part of a nest between two neighbouring
// borders (Regions::Border). The automaton reads the region's temporal loops from the outside in.
// States are numbers; 0 is the start, and a loop never leads to a smaller one.
//
// With perfect factors it tracks the product of adjacent loops over a dim, not how they are cut.
// With imperfect factors a rule concerns the number of tiles that the region makes of a tile,
// ceil(extent above it / extent below it). No state knows that number, so callers check allows()
// where the region ends.
class Region {
 public:
  // The loops over dims with these bounds that a rule allows, without loops over `exhausted`.
  // `rule` null: all loops.
  Region(const PerDim<std::int64_t>& bounds, const LoopRule* rule, DimSet exhausted,
         bool imperfect);

  // The loops of this region, followed by those of `inner`, with no mark between them.
  Region joined_with(const Region& inner) const;

  std::size_t states() const { return states_; }
  // The state after a loop of this factor; nullopt: the loop, or its factor, is not allowed.
  std::optional<std::size_t> after(std::size_t state, DimId dim, std::int64_t factor) const;
  bool may_end(std::size_t state) const;
  // Imperfect factors: may the region cut one tile of the dim into `tiles`?
  bool allows(DimId dim, std::int64_t tiles) const;
  // Does the order of loops matter?
  bool is_ordered() const { return groups_.size() > 1; }
  // Does the product of the loops over `dim` matter?
  bool tracks(DimId dim) const;
  // The groups of the loop order that contain a dim, as bits. Dims with equal bits are alike,
  // unless one is tracked.
  std::uint64_t groups_of(DimId dim) const;

 private:
  struct Tracked {
    DimId dim{};
    // Products from which an allowed one can still be reached, ascending
    std::vector<std::int64_t> products;
    std::vector<bool> allowed;
    std::size_t stride = 1;
  };
  void list_states();
  void list_imperfect_states();

  bool imperfect_;
  PerDim<std::int64_t> bounds_;
  // Imperfect factors: per region that was joined into this one
  PerDim<std::vector<Allowed>> parts_;
  PerDim<std::vector<std::int64_t>> divisors_;  // of the bounds
  PerDim<std::vector<std::int64_t>> factors_;   // that the loops over a dim may multiply to
  std::vector<DimSet> groups_;
  std::vector<Tracked> tracked_;
  std::size_t stride_ = 1;  // of the group in a state
  std::size_t states_ = 1;
};

// The regions of all nests that use the same fanouts, outermost first, and the borders between
// them.
class Regions {
 public:
  Regions(const Mapspace& space, const std::vector<FanoutId>& used);

  // A border between two regions: a used fanout or, in even spaces, a level, which must then keep
  // something.
  struct Border {
    std::optional<std::size_t> fanout;  // index in the list of used fanouts; nullopt: a level
    LevelId level{};
    friend bool operator==(const Border&, const Border&) = default;
  };
  const std::vector<Border>& borders() const { return borders_; }
  const Region& operator[](std::size_t region) const { return regions_[region]; }
  std::size_t size() const { return regions_.size(); }
  bool is_border(LevelId level) const;
  // The region below `fanouts` used fanouts and, in an even space, the point of `level`.
  std::size_t below(std::size_t fanouts, std::size_t level) const;

  // The state of a nest in the making: its region, and the state of that region's automaton.
  struct State {
    std::size_t region = 0;
    std::size_t of_region = 0;
  };
  std::optional<State> after_loop(State state, DimId dim, std::int64_t factor) const;
  // `region` is this one or further in
  std::optional<State> enter(State state, std::size_t region) const;
  bool may_end(State state) const;
  // Imperfect factors: may a nest go on to `region`, if region `from` began with tile `begun` and
  // ended with `tile`? Between the two regions there are no loops.
  bool allow(std::size_t from, std::size_t region, const PerDim<std::int64_t>& begun,
             const PerDim<std::int64_t>& tile) const;

 private:
  std::vector<Border> borders_;
  std::vector<Region> regions_;  // one more than borders
};

// May a tile with these extents be kept, if `left` of each dim remains for temporal loops further
// in? (Imperfect factors: pass 1, and forbid those loops.)
bool fits_rules(const std::vector<ExtentRule>& rules, LevelId level, TensorSet tensors,
                const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& left);

// The dims that no temporal loop may cut below these keeps, because of rules for extents.
DimSet done_below(const std::vector<ExtentRule>& rules, LevelId level, TensorSet tensors);

// Does a mapping obey the rules for extents and loops? Its extents and keeps are allowed by the
// space.
bool obeys_rules(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
