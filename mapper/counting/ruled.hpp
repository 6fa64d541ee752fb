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

// Numbers of nests under rules for extents and loops, from any point of a nest on, for classes of
// unrollings that the rules cannot tell apart. Dynamic programming over where keeps and fanouts
// have come to, the state of the region (with one_loop_per_dim the dims of the loops since the last
// point, each a loop and no letters), and a tile: the extent of each dim that some rule
// measures, and how many letters are left of each class of dims that no rule tells apart. A loop is
// a sequence of letters, as docs/mapspace.md explains.
class RuledTable {
 public:
  RuledTable(const Mapspace& space, const UnrollingClass& unrolling_class);

  // Where a nest has come to.
  struct At {
    std::size_t cursor = 0;
    std::size_t state = 0;  // of the region
    DimSet since{};         // one_loop_per_dim: dims with a loop since the last point
    friend bool operator==(const At&, const At&) = default;
  };
  // Nests from there on that begin with a loop, and those that begin with a point or end.
  struct Ways {
    mpz_class loops;
    mpz_class rest;
  };

  const Placements& placements() const { return placements_; }
  const std::vector<Way>& points(std::size_t cursor) const { return points_.from(cursor); }
  bool ends(const At& at) const;  // may a nest without anything left end there?
  std::optional<At> after_loop(const At& at, DimId dim, std::int64_t factor) const;
  // Where a point leads if its tiles are `left` over the temporal loops still to come.
  std::optional<At> after_point(const At& at, const Way& way,
                                const PerDim<std::int64_t>& left) const;

  // Of whole nests. Nothing if `stop`, which is asked now and then, says so; then it ends.
  std::optional<mpz_class> count(const PerDim<std::int64_t>& bounds,
                                 const std::function<bool()>& stop);
  // The same from a point on, with what is left of each dim. Only of what count() has met.
  Ways ways(const At& at, const PerDim<std::int64_t>& left) const;

 private:
  // What the tile says about a dim, or about a class of them.
  struct Axis {
    std::vector<DimId> dims;          // one, if measured
    std::vector<std::int64_t> sizes;  // extents, or numbers of letters: 0, 1, ...
    bool measured = false;
    std::size_t stride = 1;
  };
  struct ExtentTest {
    DimId dim{};
    std::int64_t factor = 1;  // of the fanouts below, which the tile there still has
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
  // Without dims of which nothing is left.
  DimSet still_open(DimSet since, std::size_t tile) const;
  // The tiles that what is left may stand for, and by how many sequences of letters each.
  using Start = std::pair<std::size_t, mpz_class>;
  std::vector<Start> starts(const PerDim<std::int64_t>& left) const;

  const Mapspace* space_;
  Placements placements_;
  Points points_;
  std::vector<Axis> axes_;
  std::vector<ExtentTest> tests_;  // one per rule
  const std::function<bool()>* stop_ = nullptr;
  bool stopped_ = false;
  std::size_t states_ = 1;  // most of one region
  std::size_t tiles_ = 1;
  std::size_t sinces_ = 1;  // sets of dims that `since` may be
  std::unordered_map<std::size_t, Ways> known_;
  std::map<std::int64_t, std::vector<mpz_class>> letters_;  // by what is left of a dim
};

// The tables of a whole mapspace, one for classes that need the same.
class RuledTables {
 public:
  explicit RuledTables(const Mapspace& space) : space_{&space} {}
  std::shared_ptr<RuledTable> of(const UnrollingClass& unrolling_class);

 private:
  const Mapspace* space_;
  std::map<std::vector<std::int64_t>, std::shared_ptr<RuledTable>> tables_;
};

// Draws a nest of the unrolling uniformly; its bounds have been counted.
Mapping draw_ruled(const Mapspace& space, const RuledTable& table, const Unrolling& unrolling,
                   const PerDim<std::int64_t>& bounds, Rng& rng);

}  // namespace mapsim::nests
