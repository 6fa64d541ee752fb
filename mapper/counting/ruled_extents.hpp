// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"
#include "mapper/mapspace/points.hpp"

namespace mapsim::nests {

// Counts and draws the nests of one unrolling of a space with imperfect factors under rules for
// extents and loops. As in extents.hpp, a nest is a word of single extents with points between. The
// dynamic program's state has: the keeps and fanouts placed so far; the group of the region's loop
// order; the tile at which the region began; the dims that no loop may cut any more; and the tile.
// The tile has the extent of each dim that a rule or a fanout measures, and for each class of
// indistinguishable dims the extents that are left.
class RuledExtents {
 public:
  RuledExtents(const Mapspace& space, const UnrollingClass& unrolling_class);  // both outlive it

  // Per unrolling: about 600 MB.
  static constexpr std::size_t kMostStates = 3'000'000;

  // nullopt if `stop` returns true, or if more states than `most` are needed.
  std::optional<mpz_class> count(const std::function<bool()>& stop, std::size_t most = kMostStates);
  std::size_t states() const { return known_.size(); }  // visited by count()
  // Uniform. count() has been called, and its result is not 0.
  Mapping sample(const UnrollingClass& unrolling_class, Rng& rng) const;

 private:
  class Draw;
  struct At {
    std::size_t cursor = 0;
    std::size_t state = 0;  // of the region
    std::size_t begun = 0;  // digits of the dims that the region tracks
    std::uint32_t done = 0;
    std::size_t tile = 0;
    friend bool operator==(const At&, const At&) = default;
  };
  struct Hash {
    std::size_t operator()(const At& at) const;
  };
  // The nests from there on: those that begin with an extent, and those that begin with a point or
  // end.
  struct Ways {
    mpz_class extents;
    mpz_class rest;
  };
  struct Axis {
    std::vector<DimId> dims;  // a single one if it is measured
    bool measured = false;
    std::size_t size = 1;
    std::size_t stride = 1;
  };

  void make_axes();
  std::size_t region(std::size_t cursor) const {
    return placements_.region(points_.cursor(cursor));
  }
  std::size_t digit(const Axis& axis, std::size_t tile) const {
    return tile / axis.stride % axis.size;
  }
  PerDim<std::int64_t> extents(std::size_t tile) const;
  PerDim<std::int64_t> begun(const At& at) const;
  std::size_t tracked(std::size_t region, std::size_t tile) const;
  bool ends(const At& at) const;
  std::optional<At> after_extent(const At& at, const Axis& axis) const;
  std::optional<At> after_point(const At& at, const NextPoint& next_point) const;
  const Ways& solve(const At& at);
  At start() const;

  const Mapspace* space_;
  const UnrollingClass* class_;
  Placements placements_;
  Points points_;
  std::vector<Axis> axes_;
  std::size_t tiles_ = 1;
  std::unordered_map<At, Ways, Hash> known_;
  mpz_class copies_ = 1;  // permutations of the dims of the classes
  const std::function<bool()>* stop_ = nullptr;
  std::size_t most_ = kMostStates;
  bool stopped_ = false;
};

// The tables of a whole space; unrollings that differ only in axes share one.
class RuledExtentTables {
 public:
  explicit RuledExtentTables(const Mapspace& space) : space_{&space} {}
  std::shared_ptr<RuledExtents> of(const UnrollingClass& unrolling_class);

 private:
  const Mapspace* space_;
  std::map<std::vector<std::int64_t>, std::shared_ptr<RuledExtents>> tables_;
};

// The number of mappings of all unrollings. nullopt if `stop` returns true, or if they need more
// than `most` states together, which is a few seconds and the same on any machine.
inline constexpr std::size_t kMostCounted = 1'000'000;
std::optional<mpz_class> count_ruled_extents(const Mapspace& space,
                                             const std::function<bool()>& stop,
                                             std::size_t most = kMostCounted);

}  // namespace mapsim::nests
