// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/nonzeros.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "costmodel/nest.hpp"

namespace mapsim {

namespace {

// A tree of fibers over the points of a tile: each rank's coordinates, in the order of the format.
class FiberTree {
 public:
  // `places`: that the coordinates of each code tell apart, of a fiber no more than it has unless
  // they are those in the `whole` tensor.
  FiberTree(const TensorFormat& format, const std::vector<std::vector<std::int64_t>>& points,
            const std::vector<char>& nonzero, std::vector<std::int64_t> places, bool whole)
      : format_{format},
        points_{points},
        nonzero_{nonzero},
        places_{std::move(places)},
        whole_{whole} {}

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
    const std::int64_t among = whole_ ? places_[depth] : std::min(n, places_[depth]);
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
  bool whole_;
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

// The temporal loops whose indices are packed into lanes that all share a transfer, and the loop
// over the lanes, which take nonzeros of the leader. nullopt: there are no such lanes.
std::optional<std::vector<std::size_t>> Nonzeros::packed_loops(
    TensorId leader, const std::vector<LoopIndices>& served) const {
  const Workload& workload = problem_.workload();
  const std::vector<WalkLoop>& loops = walk_.loops();
  const auto takes = [&](TensorId t, DimId d) {
    return model().looks_at(t) && workload.tensors[t].dims().contains(d);
  };
  const auto is_packing = [&](std::size_t i) {
    return loops[i].fanout && problem_.arch().fanouts[*loops[i].fanout].balance == Balance::kPacked;
  };
  for (std::size_t k = 0; k < loops.size(); ++k) {
    const bool is_shared = std::any_of(served.begin(), served.end(), [&](const LoopIndices& unit) {
      return unit[k] != served.front()[k];
    });
    if (!is_shared || !takes(leader, loops[k].dim) ||
        model().machine().when_zero != ZeroAct::kSkip || !is_packing(k)) {
      continue;
    }
    std::size_t fed = 0;
    for (const TensorId t : workload.tensors.ids()) {
      for (const KeptAt& keep : walk_.keeps(t)) {
        const bool holds = workload.tensors[t].dims().contains(loops[k].dim) && keep.depth <= k;
        fed = holds ? std::max(fed, keep.depth) : fed;
      }
    }
    std::vector<std::size_t> packed;
    for (std::size_t i = fed; i < k; ++i) {
      if (!loops[i].fanout && loops[i].dim == loops[k].dim) {
        packed.push_back(i);
      } else if (loops[i].dim == loops[k].dim && is_packing(i)) {
        packed.clear();  // these lanes take them
      }
    }
    packed.push_back(k);
    return packed;
  }
  return std::nullopt;
}

// Lanes take the nonzeros of a tile in order. Is there a batch whose number is that of the present
// step among those that the tile would take without zeros?
bool Nonzeros::is_filled(TensorId leader, const std::vector<LoopIndices>& served,
                         const std::vector<std::size_t>& loops) const {
  const LoopIndices& moment = walk_.moment();
  std::int64_t steps = 1;
  std::int64_t batch = 0;
  for (std::size_t i = 0; i + 1 < loops.size(); ++i) {
    batch = batch * walk_.loops()[loops[i]].bound + moment[loops[i]];
    steps *= walk_.loops()[loops[i]].bound;
  }
  const std::int64_t lanes = walk_.loops()[loops.back()].bound;
  std::int64_t taken = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<LoopIndices> then = served;
    std::int64_t rest = step;
    for (std::size_t i = loops.size() - 1; i-- > 0;) {
      const std::int64_t bound = walk_.loops()[loops[i]].bound;
      for (LoopIndices& unit : then) {
        unit[loops[i]] = rest % bound - moment[loops[i]];
      }
      rest /= bound;
    }
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::vector<LoopIndices> units;
      std::copy_if(then.begin(), then.end(), std::back_inserter(units),
                   [&](const LoopIndices& unit) { return unit[loops.back()] == lane; });
      taken += is_hit(leader, units, walk_) ? 1 : 0;
    }
  }
  return batch * lanes < taken;
}

Nonzeros::Acts Nonzeros::act(LevelId level, TensorId t, const std::vector<LoopIndices>& instances,
                             std::size_t depth, std::optional<std::size_t> moving,
                             bool once) const {
  const std::vector<BoundCondition>& conditions = model().conditions(level, t);
  if (conditions.empty()) {
    return {};
  }
  std::vector<LoopIndices> served;
  for (const LoopIndices& unit : units_) {
    LoopIndices above = unit;
    std::fill(above.begin() + static_cast<std::ptrdiff_t>(depth), above.end(), 0);
    if (std::find(instances.begin(), instances.end(), above) != instances.end()) {
      served.push_back(unit);
    }
  }
  Acts acts;
  for (const BoundCondition& condition : conditions) {
    LoopWalk ahead = walk_;
    bool hit = false;
    std::optional<std::size_t> advanced;
    do {
      hit = hit || is_hit(condition.leader, served, ahead);
      advanced = once || hit ? std::nullopt : ahead.advance();
    } while (advanced && (!moving || *advanced > *moving));
    acts.operations = hit ? acts.operations : stronger(acts.operations, condition.act);
    const auto packed = packed_loops(condition.leader, served);
    const bool by_batch = packed && packed->size() > 1 &&
                          (once || (moving && packed->at(packed->size() - 2) <= *moving));
    hit = by_batch ? is_filled(condition.leader, served, *packed) : hit;
    acts.transfer = hit ? acts.transfer : stronger(acts.transfer, condition.act);
  }
  return acts;
}

// Per code: that its coordinates tell apart, of the fibers of a tile at most.
std::vector<std::int64_t> Nonzeros::places_of(TensorId t, const TensorFormat& format,
                                              bool to_units) const {
  std::vector<std::int64_t> places(format.ranks.size(), std::numeric_limits<std::int64_t>::max());
  const Tensor& tensor = problem_.workload().tensors[t];
  std::vector<std::size_t> ranks(tensor.ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (format.columns) {
    std::reverse(ranks.begin(), ranks.end());
  }
  if (to_units) {
    const std::vector<std::int64_t> extents = tile_shape(tensor, bounds_of(problem_.workload()));
    std::fill(places.begin(), places.end(), 1);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      places[std::min(i, places.size() - 1)] *= extents[ranks[i]];
    }
  }
  if (!tensor.pattern || tensor.pattern->kind != PatternKind::kStructured ||
      format.ranks.back().bits == 0) {
    return places;
  }
  const std::vector<Term>& innermost = tensor.ranks[ranks.back()].terms;
  const bool along = innermost.size() == 1 && innermost.front().dim == tensor.pattern->dim;
  if (places.size() == 1 || (places.size() == ranks.size() && along)) {
    places.back() = std::min(places.back(), tensor.pattern->block);
  }
  return places;
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
  FiberTree tree{format, points, nonzero, places_of(t, format, to_units), to_units};
  tree.visit(0, all);
  return {tree.elements / size, tree.bits / size};
}

}  // namespace mapsim
