// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/nonzeros.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "costmodel/nest.hpp"

namespace mapsim {

namespace {

// A tree of fibers over the points of a tile: each rank's coordinates, in the order of the format.
class FiberTree {
 public:
  // `places`: that the coordinates of each code tell apart; none: those of the fiber.
  FiberTree(const TensorFormat& format, const std::vector<std::vector<std::int64_t>>& points,
            const std::vector<char>& nonzero, std::vector<std::int64_t> places)
      : format_{format}, points_{points}, nonzero_{nonzero}, places_{std::move(places)} {}

  double elements = 0;
  double bits = 0;

  // A fiber of the code `depth` that holds these points.
  void visit(std::size_t depth, const std::vector<std::size_t>& fiber) {
    if (depth == format_.ranks.size()) {
      elements += static_cast<double>(fiber.size());
      return;
    }
    std::map<std::vector<std::int64_t>, std::vector<std::size_t>> children;
    for (const std::size_t i : fiber) {
      const auto& at = points_[i];
      const bool last = depth + 1 == format_.ranks.size();
      const auto from = at.begin() + static_cast<std::ptrdiff_t>(depth);
      children[{from, last ? at.end() : from + 1}].push_back(i);
    }
    const RankCode& code = format_.ranks[depth];
    std::int64_t run = 0;
    std::int64_t entries = 0;
    for (const auto& child : children) {
      const bool full = std::any_of(child.second.begin(), child.second.end(),
                                    [&](std::size_t i) { return nonzero_[i] != 0; });
      const bool whole = code.format == RankFormat::kDense || code.format == RankFormat::kOffsets;
      if (full || whole) {
        visit(depth + 1, child.second);
      }
      // A run counts up to 2^bits - 1 zeros; one more needs an entry of its own.
      for (run = full ? run : run + 1;
           full && code.bits < 62 && run >= std::int64_t{1} << code.bits;
           run -= std::int64_t{1} << code.bits) {
        ++entries;
      }
      run = full ? 0 : run;
      entries += full ? 1 : 0;
    }
    const auto n = static_cast<std::int64_t>(children.size());
    const std::int64_t among = places_.empty() ? n : places_[depth];
    const auto width = [&](std::int64_t most) {
      const std::int64_t least = std::bit_width(static_cast<std::uint64_t>(most));
      std::int64_t words = 1;  // of a given width
      while (code.bits > 0 && words * code.bits < least) {
        ++words;
      }
      return static_cast<double>(code.bits > 0 ? words * code.bits : least);
    };
    bits += code.format == RankFormat::kBitmask ? static_cast<double>(n)
            : code.format == RankFormat::kCoordinates
                ? static_cast<double>(entries_of(children)) * width(among - 1)
            : code.format == RankFormat::kRuns ? static_cast<double>(entries * code.bits)
            : code.format == RankFormat::kOffsets
                ? static_cast<double>(n + 1) * width(static_cast<std::int64_t>(points_.size()))
                : 0;
  }

 private:
  template <class Children>
  std::int64_t entries_of(const Children& children) const {
    return std::count_if(children.begin(), children.end(), [&](const auto& child) {
      return std::any_of(child.second.begin(), child.second.end(),
                         [&](std::size_t i) { return nonzero_[i] != 0; });
    });
  }

  const TensorFormat& format_;
  const std::vector<std::vector<std::int64_t>>& points_;
  const std::vector<char>& nonzero_;
  std::vector<std::int64_t> places_;
};

}  // namespace

Nonzeros::Nonzeros(const Problem& problem, const LoopWalk& walk, PerTensor<Projection> projections,
                   std::vector<std::vector<char>> masks)
    : problem_{problem},
      walk_{walk},
      projections_{std::move(projections)},
      masks_{std::move(masks)},
      units_{walk.instances(walk.loops().size())} {}

bool Nonzeros::is_hit(TensorId leader, const std::vector<LoopIndices>& units,
                      const LoopWalk& now) const {
  return std::any_of(units.begin(), units.end(), [&](const LoopIndices& unit) {
    const std::optional<IterationTile> operation = now.tile(now.loops().size(), unit);
    return operation && !is_zero(leader, projections_[leader].first_point(*operation));
  });
}

ZeroAct Nonzeros::act(LevelId level, TensorId t, const std::vector<LoopIndices>& instances,
                      std::size_t depth, std::optional<std::size_t> moving, bool once) const {
  const std::vector<BoundCondition>& conditions = model().conditions(level, t);
  if (conditions.empty()) {
    return ZeroAct::kNothing;
  }
  std::vector<LoopIndices> served;
  for (const LoopIndices& unit : units_) {
    LoopIndices above = unit;
    std::fill(above.begin() + static_cast<std::ptrdiff_t>(depth), above.end(), 0);
    if (std::find(instances.begin(), instances.end(), above) != instances.end()) {
      served.push_back(unit);
    }
  }
  ZeroAct act = ZeroAct::kNothing;
  for (const BoundCondition& condition : conditions) {
    LoopWalk ahead = walk_;
    bool hit = false;
    std::optional<std::size_t> advanced;
    do {
      hit = hit || is_hit(condition.leader, served, ahead);
      advanced = once || hit ? std::nullopt : ahead.advance();
    } while (advanced && (!moving || *advanced > *moving));
    act = hit ? act : stronger(act, condition.act);
  }
  return act;
}

MovedShare Nonzeros::share(LevelId level, TensorId t, const PointSet& tile, bool to_units) const {
  const TensorFormat& format = model().format(level, t);
  std::vector<std::vector<std::int64_t>> points;
  std::vector<char> nonzero;
  std::vector<std::size_t> all;
  const std::vector<std::int64_t> box =
      box_shape(problem_.workload(), problem_.workload().tensors[t]);
  double nonzeros = 0;
  for (std::int64_t point : tile) {
    nonzero.push_back(is_zero(t, point) ? 0 : 1);
    nonzeros += nonzero.back();
    std::vector<std::int64_t> at(box.size());
    for (std::size_t r = box.size(); r-- > 0;) {
      at[r] = point % box[r];
      point /= box[r];
    }
    if (format.columns) {
      std::reverse(at.begin(), at.end());
    }
    all.push_back(points.size());
    points.push_back(std::move(at));
  }
  const auto size = static_cast<double>(tile.size());
  if (format.ideal || format.ranks.empty()) {
    return {format.ideal ? nonzeros / size : 1, 0};
  }
  std::vector<std::int64_t> places;
  const Shared<Pattern>& pattern = problem_.workload().tensors[t].pattern;
  if (pattern && pattern->kind == PatternKind::kStructured && format.ranks.size() == 1 &&
      format.ranks[0].bits > 0) {  // of a block
    places = {to_units ? pattern->block
                       : std::min(pattern->block, static_cast<std::int64_t>(points.size()))};
  } else if (to_units) {
    std::vector<std::int64_t> extents =
        tile_shape(problem_.workload().tensors[t], bounds_of(problem_.workload()));
    if (format.columns) {
      std::reverse(extents.begin(), extents.end());
    }
    for (std::size_t c = 0; c < format.ranks.size(); ++c) {
      places.push_back(extents[c]);
    }
    for (std::size_t r = format.ranks.size(); r < extents.size(); ++r) {
      places.back() *= extents[r];
    }
  }
  FiberTree tree{format, points, nonzero, places};
  tree.visit(0, all);
  return {tree.elements / size, tree.bits / size};
}

}  // namespace mapsim
