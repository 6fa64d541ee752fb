// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/ruled_extents.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "mapper/counting/counting.hpp"
#include "mapper/counting/extent_stages.hpp"

namespace mapsim::nests {

namespace {

// `stop` is called once per so many states.
constexpr std::size_t kExtentPause = 1024;

bool is_unrolled(const UnrollingClass& unrolling_class, DimId dim) {
  return std::any_of(unrolling_class.first.begin(), unrolling_class.first.end(),
                     [dim](const Unroll& unroll) { return unroll.dim == dim; });
}

bool is_measured(const Mapspace& space, const Regions& regions,
                 const UnrollingClass& unrolling_class, DimId dim) {
  return is_unrolled(unrolling_class, dim) || is_measured_by_rules(space, regions, dim);
}

}  // namespace

std::size_t RuledExtents::Hash::operator()(const At& at) const {
  std::size_t h = at.tile;
  for (const std::size_t x : {at.cursor, at.state, at.begun, std::size_t{at.done}}) {
    h = (h ^ x) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 29;
  }
  return h;
}

RuledExtents::RuledExtents(const Mapspace& space, const UnrollingClass& unrolling_class)
    : space_{&space},
      class_{&unrolling_class},
      placements_{space, unrolling_class},
      points_{placements_, space.constraints().extents} {
  make_axes();
}

void RuledExtents::make_axes() {
  const Regions& regions = placements_.regions();
  std::map<std::vector<std::uint64_t>, Axis> classes;
  for (const DimId d : space_->domains().ids()) {
    const std::size_t extents = space_->domains()[d].size() - 1;
    if (is_measured(*space_, regions, *class_, d)) {
      axes_.push_back({{d}, true, extents + 1, 1});
      continue;
    }
    Axis& axis = classes[groups_of(regions, d)];
    axis.dims.push_back(d);
    axis.size += extents;
    copies_ *= factorial(axis.size - 1) / (factorial(axis.size - 1 - extents) * factorial(extents));
  }
  for (auto& entry : classes) {
    axes_.push_back(std::move(entry.second));
  }
  for (Axis& axis : axes_) {
    axis.stride = tiles_;
    tiles_ *= axis.size;
  }
}

// The extents of measured dims; 1 for the others, which nothing concerns.
PerDim<std::int64_t> RuledExtents::extents(std::size_t tile) const {
  PerDim<std::int64_t> extents(space_->domains().size(), 1);
  for (const Axis& axis : axes_) {
    if (axis.measured) {
      extents[axis.dims.front()] = space_->domains()[axis.dims.front()][digit(axis, tile)];
    }
  }
  return extents;
}

// The tile at which the region began. Dims that the region does not track count as uncut.
PerDim<std::int64_t> RuledExtents::begun(const At& at) const {
  PerDim<std::int64_t> extents = this->extents(at.tile);
  for (const Axis& axis : axes_) {
    const DimId d = axis.dims.front();
    if (axis.measured && placements_.regions()[region(at.cursor)].tracks(d)) {
      extents[d] = space_->domains()[d][digit(axis, at.begun)];
    }
  }
  return extents;
}

std::size_t RuledExtents::tracked(std::size_t region, std::size_t tile) const {
  std::size_t begun = 0;
  for (const Axis& axis : axes_) {
    const bool tracks = axis.measured && placements_.regions()[region].tracks(axis.dims.front());
    begun += tracks ? digit(axis, tile) * axis.stride : 0;
  }
  return begun;
}

bool RuledExtents::ends(const At& at) const {
  const Regions& regions = placements_.regions();
  const std::size_t here = region(at.cursor);
  return at.tile == 0 && placements_.is_complete(points_.cursor(at.cursor)) &&
         regions.may_end({here, at.state}) &&
         regions.allow(here, regions.size(), begun(at), extents(at.tile));
}

std::optional<RuledExtents::At> RuledExtents::after_extent(const At& at, const Axis& axis) const {
  const DimId d = axis.dims.front();
  const auto state = placements_.regions()[region(at.cursor)].after(at.state, d, 1);
  if (!state || digit(axis, at.tile) == 0 ||
      (axis.measured && (at.done >> index_of(d) & 1U) != 0)) {
    return std::nullopt;
  }
  return At{at.cursor, *state, at.begun, at.done, at.tile - axis.stride};
}

std::optional<RuledExtents::At> RuledExtents::after_point(const At& at,
                                                          const NextPoint& next_point) const {
  const Regions& regions = placements_.regions();
  const auto& rules = space_->constraints().extents;
  const std::size_t from = region(at.cursor);
  const std::size_t to = region(next_point.cursor);
  PerDim<std::int64_t> tile = extents(at.tile);
  const auto state = regions.enter({from, at.state}, to);
  if (!state || !regions.allow(from, to, begun(at), tile)) {
    return std::nullopt;
  }
  At next{next_point.cursor, state->of_region, at.begun, at.done, at.tile};
  const PerDim<std::int64_t> left(tile.size(), 1);
  std::size_t fanout = next_point.point.first_fanout;
  for (const LevelId level : next_point.point.keeps.ids()) {
    for (; fanout < next_point.point.end_fanout && placements_.end_level(fanout) <= index_of(level);
         ++fanout) {
      const auto below =
          behind(space_->domains(), class_->first, placements_.used_fanouts()[fanout], tile);
      if (!below) {
        return std::nullopt;
      }
      tile = *below;
    }
    if (!fits_rules(rules, level, next_point.point.keeps[level], tile, left)) {
      return std::nullopt;
    }
    next.done |= done_below(rules, level, next_point.point.keeps[level]).bits();
  }
  for (; fanout < next_point.point.end_fanout; ++fanout) {
    const auto below =
        behind(space_->domains(), class_->first, placements_.used_fanouts()[fanout], tile);
    if (!below) {
      return std::nullopt;
    }
    tile = *below;
  }
  for (const Axis& axis : axes_) {
    if (axis.measured) {
      const DimId d = axis.dims.front();
      next.tile -= (digit(axis, at.tile) - extent_of(space_->domains()[d], tile[d])) * axis.stride;
    }
  }
  next.begun = from == to ? at.begun : tracked(to, next.tile);
  return next;
}

const RuledExtents::Ways& RuledExtents::solve(const At& at) {
  const auto found = known_.find(at);
  if (found != known_.end()) {
    return found->second;
  }
  stopped_ =
      stopped_ || known_.size() >= most_ || (known_.size() % kExtentPause == 0 && (*stop_)());
  Ways ways;
  for (const Axis& axis : axes_) {
    if (const auto next = stopped_ ? std::nullopt : after_extent(at, axis)) {
      const Ways& below = solve(*next);
      ways.extents += below.extents + below.rest;
    }
  }
  ways.rest = ends(at) ? 1 : 0;
  for (const NextPoint& next_point : points_.from(at.cursor)) {
    if (const auto next = stopped_ ? std::nullopt : after_point(at, next_point)) {
      ways.rest += solve(*next).extents + (ends(*next) ? 1 : 0);
    }
  }
  return known_.emplace(at, std::move(ways)).first->second;
}

RuledExtents::At RuledExtents::start() const {
  At at;
  at.tile = tiles_ - 1;
  at.begun = tracked(0, at.tile);
  return at;
}

std::optional<mpz_class> RuledExtents::count(const std::function<bool()>& stop, std::size_t most) {
  stop_ = &stop;
  most_ = most;
  const Ways& ways = solve(start());
  const mpz_class number = copies_ * (ways.extents + ways.rest);
  stop_ = nullptr;
  return stopped_ ? std::nullopt : std::optional(number);
}

namespace {

// Unrollings with the same key have equally many nests, since axes do not matter.
std::vector<std::int64_t> key_of(const UnrollingClass& unrolling_class) {
  Unrolling sorted = unrolling_class.first;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Unroll& a, const Unroll& b) {
    return std::tuple{a.fanout, a.dim} < std::tuple{b.fanout, b.dim};
  });
  std::vector<std::int64_t> key;
  for (const Unroll& unroll : sorted) {
    key.push_back(static_cast<std::int64_t>(index_of(unroll.fanout)));
    key.push_back(static_cast<std::int64_t>(index_of(unroll.dim)));
    key.push_back(unroll.factor);
  }
  return key;
}

}  // namespace

std::shared_ptr<RuledExtents> RuledExtentTables::of(const UnrollingClass& unrolling_class) {
  auto& table = tables_[key_of(unrolling_class)];
  if (!table) {
    table = std::make_shared<RuledExtents>(*space_, unrolling_class);
  }
  return table;
}

std::optional<mpz_class> count_ruled_extents(const Mapspace& space,
                                             const std::function<bool()>& stop, std::size_t most) {
  std::map<std::vector<std::int64_t>, std::pair<const UnrollingClass*, unsigned long>> times;
  for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
    ++times.try_emplace(key_of(unrolling_class), &unrolling_class, 0).first->second.second;
  }
  mpz_class sum;
  for (const auto& [key, unrolling_class] : times) {
    RuledExtents table{space, *unrolling_class.first};
    const auto nests = table.count(stop, most);
    if (!nests) {
      return std::nullopt;
    }
    most -= std::min(most, table.states());
    sum += *nests * unrolling_class.second;
  }
  return sum;
}

}  // namespace mapsim::nests
