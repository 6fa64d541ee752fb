// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"

namespace mapsim {

// The boundary between a level that keeps a tensor and the next place further in that holds it.
struct TileBoundary {
  TensorId tensor{};
  LevelId parent{};
  std::optional<LevelId> child;  // nullopt: the compute units
  std::size_t parent_depth = 0;  // loops above
  std::size_t child_depth = 0;
};

// Elements that one exchange of a tile moves, of the first instance at either end. The old tile
// leaves before the new one enters. `parent`: elements through the parent's port for all instances
// that share it; `child`: of the first child.
struct Carried {
  std::int64_t parent = 0;
  std::int64_t child = 0;
};
struct Exchange {
  std::size_t boundary = 0;  // index into TileWalk::boundaries()
  Carried enters;            // operands: reads and fills; sums that return: read-backs and fills
  Carried leaves;            // sums: updates and drains
};

// The loops of a mapping, walked by the first instance tile step by tile step: a tile step lasts
// until a tile of a followed boundary is exchanged. Counts what each exchange moves for itself,
// without values and without visiting the MACs in between, so that it can begin anywhere. Obeys the
// rules of docs/model.md; shares no code with count() or with the reference simulator.
class TileWalk {
 public:
  // Follows every boundary between levels, and those to the compute units of levels whose
  // `followed` is set. Throws std::invalid_argument where the output has a sliding window.
  TileWalk(const Problem& problem, const Mapping& mapping, const PerLevel<bool>& followed);

  const std::vector<TileBoundary>& boundaries() const { return boundaries_; }
  std::int64_t tile_steps() const;  // of the whole walk
  std::int64_t steps() const;       // temporal steps of the whole walk

  // Goes to tile step `ordinal` without counting the transfers of its tiles; returns the temporal
  // steps before it.
  std::int64_t seek(std::int64_t ordinal);
  // Goes to the next tile step, or to the first one; false at the end, where exchanges() has the
  // remaining drains.
  bool advance();
  // The exchanges of the present tile step, outermost levels first.
  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  std::int64_t inner_steps() const;  // temporal steps within it
  // First iteration and number of iterations of each dim in the tile below the first `depth` loops.
  struct Range {
    std::int64_t begin = 0;
    std::int64_t size = 0;
  };
  PerDim<Range> tile(std::size_t depth) const;

 private:
  // How a boundary exchanges tiles when a loop advances.
  struct Follow {
    std::optional<std::size_t> moving;  // innermost temporal loop above the child that moves it
    bool forgets = false;               // compute units without register reuse
    bool sliding = true;
    bool together = true;  // all merging fanouts in between forward to neighbours
    bool is_output = false;
    Carried held;  // sums that will leave
  };
  // The iterations of a dim that instances on one boundary work on: groups that are served apart,
  // each of instances that share.
  using Groups = std::vector<std::vector<Range>>;
  // Whose iterations: those of all instances at the parent's end, or of the first child.
  struct End {
    const TileBoundary& boundary;
    bool at_parent = false;
  };

  void follow(const TileBoundary& boundary);
  void exchange(std::optional<std::size_t> advanced);
  Carried held_now(const TileBoundary& boundary) const;
  Carried entering(const TileBoundary& boundary, const Follow& follow, bool slides) const;
  std::int64_t points(const End& end, const Follow& follow, bool slides) const;
  std::int64_t window_points(const End& end, const Follow& follow, const Rank& rank,
                             bool slides) const;
  std::int64_t apart(const End& end, DimId dim) const;
  bool returns(const TileBoundary& boundary) const;
  bool merges(std::size_t loop, TensorId tensor) const;
  Groups groups(const End& end, DimId dim, const std::vector<std::int64_t>& index) const;
  void add_ranges(const End& end, DimId dim, std::size_t loop, Range range,
                  const std::vector<std::int64_t>& index, Groups& groups) const;
  // Iterations of the first `depth` loops from loop `from` on, of the first instance.
  std::int64_t count(std::size_t from, std::size_t depth, const PerDim<std::int64_t>& sizes) const;

  const Problem& problem_;
  Nest nest_;
  std::vector<TileBoundary> boundaries_;
  std::vector<Follow> follows_;
  std::size_t depth_ = 0;  // loops that a tile step is an iteration of
  std::vector<std::int64_t> index_;
  bool begun_ = false;
  std::vector<Exchange> exchanges_;
};

}  // namespace mapsim
