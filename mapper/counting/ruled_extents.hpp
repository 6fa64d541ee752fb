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

// The nests of one unrolling of an imperfect space under rules for extents and loops, counted and
// drawn. As in extents.hpp a nest is a word of single extents with points between; dynamic
// programming over where keeps and fanouts have come to, the group of the region's order, the tile
// where the region began, the dims that are done with, and the tile: the extent of each dim that a
// rule or a fanout measures, and the extents left of each class of dims that nothing tells apart.
class RuledExtents {
 public:
  RuledExtents(const Mapspace& space, const UnrollingClass& unrolling_class);  // both outlive it

  // Of one unrolling: some 600 MB.
  static constexpr std::size_t kMostStates = 3'000'000;

  // Nothing if `stop`, which is asked now and then, says so, or if it takes more states than that.
  std::optional<mpz_class> count(const std::function<bool()>& stop, std::size_t most = kMostStates);
  std::size_t states() const { return known_.size(); }  // that count() has looked at
  // Uniform; count() has been called and is not 0.
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
  // Nests from there on that begin with a extent, and those that begin with a point or end.
  struct Ways {
    mpz_class extents;
    mpz_class rest;
  };
  struct Axis {
    std::vector<DimId> dims;  // one, if measured
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
  std::optional<At> after_point(const At& at, const Way& way) const;
  const Ways& solve(const At& at);
  At start() const;

  const Mapspace* space_;
  const UnrollingClass* class_;
  Placements placements_;
  Points points_;
  std::vector<Axis> axes_;
  std::size_t tiles_ = 1;
  std::unordered_map<At, Ways, Hash> known_;
  mpz_class copies_ = 1;  // ways to tell apart the dims of classes
  const std::function<bool()>* stop_ = nullptr;
  std::size_t most_ = kMostStates;
  bool stopped_ = false;
};

// The tables of a whole space, one for unrollings that differ in their axes only.
class RuledExtentTables {
 public:
  explicit RuledExtentTables(const Mapspace& space) : space_{&space} {}
  std::shared_ptr<RuledExtents> of(const UnrollingClass& unrolling_class);

 private:
  const Mapspace* space_;
  std::map<std::vector<std::int64_t>, std::shared_ptr<RuledExtents>> tables_;
};

// The mappings of all unrollings; nothing if `stop` says so, or if they take more states than that
// together: a few seconds, and the same answer on any machine.
inline constexpr std::size_t kMostCounted = 1'000'000;
std::optional<mpz_class> count_ruled_extents(const Mapspace& space,
                                             const std::function<bool()>& stop,
                                             std::size_t most = kMostCounted);

}  // namespace mapsim::nests
