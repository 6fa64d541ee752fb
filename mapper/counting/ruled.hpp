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
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"
#include "mapper/mapspace/points.hpp"

namespace mapsim::nests {

// Counts nests under rules for extents and loops, from any point of a nest on, for classes of
// unrollings that the rules do not distinguish. It is a dynamic program over states. A state has:
// the keeps and fanouts placed so far; the state of the region's automaton (with one_loop_per_dim
// also the dims of the loops since the last point, and then loops are not split into letters); and
// a tile. The tile has the extent of each dim that some rule measures, and for each class of dims
// that no rule distinguishes the number of letters that are left. A loop is a sequence of letters
// (docs/mapspace.md).
class RuledTable {
 public:
  RuledTable(const Mapspace& space, const UnrollingClass& unrolling_class);

  // A position in a nest.
  struct At {
    std::size_t cursor = 0;
    std::size_t state = 0;  // of the region
    DimSet since{};         // one_loop_per_dim: dims with a loop since the last point
    friend bool operator==(const At&, const At&) = default;
  };
  // The nests from a position on: those that begin with a loop, and those that begin with a point
  // or end.
  struct Ways {
    mpz_class loops;
    mpz_class rest;
  };

  const Placements& placements() const { return placements_; }
  const std::vector<NextPoint>& points(std::size_t cursor) const { return points_.from(cursor); }
  bool ends(const At& at) const;  // may a nest end there if no dim is left to cut?
  std::optional<At> after_loop(const At& at, DimId dim, std::int64_t factor) const;
  // The position behind a point, if `left` remains of each dim for temporal loops further in.
  std::optional<At> after_point(const At& at, const NextPoint& next_point,
                                const PerDim<std::int64_t>& left) const;

  // The number of whole nests. nullopt if `stop` returns true; the table must then not be used.
  std::optional<mpz_class> count(const PerDim<std::int64_t>& bounds,
                                 const std::function<bool()>& stop);
  // The same from a position on, with `left` of each dim. Only for states that count() has met.
  Ways ways(const At& at, const PerDim<std::int64_t>& left) const;

 private:
  // The part of the tile for one dim, or for a class of dims.
  struct Axis {
    std::vector<DimId> dims;          // a single one if it is measured
    std::vector<std::int64_t> sizes;  // extents, or numbers of letters 0, 1, ...
    bool measured = false;
    std::size_t stride = 1;
  };
  struct ExtentTest {
    DimId dim{};
    std::int64_t factor = 1;  // of the fanouts further in, which is part of the extent there
    Allowed extents;
    bool done = false;
  };

  void make_axes(const UnrollingClass& unrolling_class);
  void make_tests(const UnrollingClass& unrolling_class);
  PerDim<std::int64_t> left_at(std::size_t tile) const;
  const Ways& solve(const At& at, std::size_t tile);
  std::size_t key(const At& at, std::size_t tile) const {
    return ((at.cursor * states_ + at.state) * tiles_ + tile) * sinces_ +
           still_open(at.since, tile).bits();
  }
  // Drops dims whose loops are complete within this tile.
  DimSet still_open(DimSet since, std::size_t tile) const;
  // The tiles that `left` may stand for, and by how many sequences of letters each.
  using Start = std::pair<std::size_t, mpz_class>;
  std::vector<Start> starts(const PerDim<std::int64_t>& left) const;

  const Mapspace* space_;
  Placements placements_;
  Points points_;
  std::vector<Axis> axes_;
  std::vector<ExtentTest> tests_;  // one per rule
  const std::function<bool()>* stop_ = nullptr;
  bool stopped_ = false;
  std::size_t solved_ = 0;  // states that were not known
  std::size_t states_ = 1;  // the most of one region
  std::size_t tiles_ = 1;
  std::size_t sinces_ = 1;  // number of possible values of `since`
  std::unordered_map<std::size_t, Ways> known_;
  std::map<std::int64_t, std::vector<mpz_class>> letters_;  // by the bound that is left of a dim
};

// The tables of a whole mapspace; classes that need the same table share it.
class RuledTables {
 public:
  explicit RuledTables(const Mapspace& space) : space_{&space} {}
  std::shared_ptr<RuledTable> of(const UnrollingClass& unrolling_class);

 private:
  const Mapspace* space_;
  std::map<std::vector<std::int64_t>, std::shared_ptr<RuledTable>> tables_;
};

// Draws a nest of the unrolling uniformly. `bounds` must have been counted.
Mapping draw_ruled(const Mapspace& space, const RuledTable& table, const Unrolling& unrolling,
                   const PerDim<std::int64_t>& bounds, Rng& rng);

}  // namespace mapsim::nests
