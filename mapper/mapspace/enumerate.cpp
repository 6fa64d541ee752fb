// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "core/factor.hpp"
#include "mapper/mapspace/builder.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim {
namespace {

using Visit = std::function<bool(const Mapping&)>;

// Visits all nests of one unrolling, depth first. At the start, and after each loop, a point may
// come; then loops, adjacent ones over different dims.
class Enumerator {
 public:
  Enumerator(const Mapspace& space, const nests::Placements& placements, const Unrolling& unrolling,
             const PerDim<std::int64_t>& bounds, const Visit& visit)
      : placements_{placements},
        visit_{visit},
        once_{space.constraints().one_loop_per_dim},
        nest_{space, placements, unrolling},
        left_{bounds} {
    for (const std::int64_t bound : bounds) {
      divisors_.push_back(divisors_of(bound));
    }
  }

  // Returns false if `visit` asked to stop.
  bool run() {
    at_point(nests::Cursor{}, {}, {});
    return !stopped_;
  }

 private:
  // Between two loops: with a point here, or without one, after which no loop over `barred` dims
  // may come.
  void at_point(const nests::Cursor& cursor, Regions::State state, DimSet barred) {
    continue_below(cursor, state, barred);
    placements_.for_each_point(cursor, [&](const nests::Point& point, const nests::Cursor& next) {
      if (stopped_) {
        return;
      }
      const nests::NestBuilder::Mark mark = nest_.mark();
      const auto below = placements_.regions().enter(state, placements_.region(next));
      if (nest_.add_point(point) && below) {
        continue_below(next, *below, {});
      }
      nest_.cut(mark);
    });
  }

  // The point above is complete: ends the nest or adds a loop.
  void continue_below(const nests::Cursor& cursor, Regions::State state, DimSet barred) {
    bool has_loops = false;
    for (const DimId dim : left_.ids()) {
      has_loops = has_loops || left_[dim] > 1;
      if (!barred.contains(dim)) {
        add_loops(cursor, state, dim, barred);
      }
    }
    if (!has_loops && !stopped_ && placements_.is_complete(cursor) &&
        placements_.regions().may_end(state)) {
      stopped_ = !visit_(nest_.mapping());
    }
  }

  void add_loops(const nests::Cursor& cursor, Regions::State state, DimId dim, DimSet barred) {
    const std::int64_t left = left_[dim];
    for (const std::int64_t factor : divisors_[dim]) {
      if (stopped_ || factor > left) {
        break;
      }
      if (factor == 1 || left % factor != 0) {
        continue;
      }
      const auto below = placements_.regions().after_loop(state, dim, factor);
      if (!below) {
        continue;
      }
      const nests::NestBuilder::Mark mark = nest_.mark();
      nest_.add_loop(dim, factor);
      left_[dim] = left / factor;
      at_point(cursor, *below, once_ ? barred | DimSet{dim} : DimSet{dim});
      left_[dim] = left;
      nest_.cut(mark);
    }
  }

  const nests::Placements& placements_;
  const Visit& visit_;
  bool once_;  // at most one loop over a dim between two points
  nests::NestBuilder nest_;
  PerDim<std::int64_t> left_;  // temporal factor still to be cut from each dim
  PerDim<std::vector<std::int64_t>> divisors_;
  bool stopped_ = false;
};

// The same with imperfect factors: loops lead to any smaller extent of a dim's domain, and a fanout
// is crossed where the unrolling gives work to every instance.
class ImperfectEnumerator {
 public:
  ImperfectEnumerator(const Mapspace& space, const nests::Placements& placements,
                      const Unrolling& unrolling, const Visit& visit)
      : domains_{space.domains()},
        rules_{space.constraints().extents},
        placements_{placements},
        unrolling_{unrolling},
        visit_{visit},
        nest_{space, placements, unrolling} {}

  // Returns false if `visit` asked to stop.
  bool run() {
    at_point({{}, {}, nest_.extents(), {}}, std::nullopt);
    return !stopped_;
  }

 private:
  // The state of the nest so far, as the rules see it.
  struct At {
    nests::Cursor cursor;
    Regions::State state;
    PerDim<std::int64_t> begun;  // the tile at which the region began
    DimSet done;                 // dims that no loop may cut
  };

  void at_point(const At& at, std::optional<DimId> last) {
    continue_below(at, last);
    placements_.for_each_point(at.cursor,
                               [&](const nests::Point& point, const nests::Cursor& next) {
                                 if (!stopped_ && may_cross(point)) {
                                   add_point(at, point, next);
                                 }
                               });
  }

  void add_point(const At& at, const nests::Point& point, const nests::Cursor& next) {
    const nests::NestBuilder::Mark mark = nest_.mark();
    const PerDim<std::int64_t> above = nest_.extents();
    const std::size_t region = placements_.region(next);
    const auto state = placements_.regions().enter(at.state, region);
    if (nest_.add_point(point) && state &&
        placements_.regions().allow(at.state.region, region, at.begun, above)) {
      At below{next, *state, region == at.state.region ? at.begun : nest_.extents(), at.done};
      for (const LevelId level : point.keeps.ids()) {
        below.done = below.done | done_below(rules_, level, point.keeps[level]);
      }
      continue_below(below, std::nullopt);
    }
    nest_.cut(mark);
  }

  bool may_cross(const nests::Point& point) const {
    std::optional<PerDim<std::int64_t>> tile = nest_.extents();
    for (std::size_t f = point.first_fanout; f < point.end_fanout && tile; ++f) {
      tile = behind(domains_, unrolling_, placements_.used_fanouts()[f], *tile);
    }
    return tile.has_value();
  }

  void continue_below(const At& at, std::optional<DimId> last) {
    const Regions& regions = placements_.regions();
    const PerDim<std::int64_t> tile = nest_.extents();
    bool has_loops = false;
    for (const DimId dim : tile.ids()) {
      has_loops = has_loops || tile[dim] > 1;
      const auto state = regions.after_loop(at.state, dim, 1);
      for (const std::int64_t extent : domains_[dim]) {
        if (extent >= tile[dim] || dim == last || stopped_ || !state || at.done.contains(dim)) {
          break;
        }
        const nests::NestBuilder::Mark mark = nest_.mark();
        nest_.add_loop_to(dim, extent);
        at_point({at.cursor, *state, at.begun, at.done}, dim);
        nest_.cut(mark);
      }
    }
    if (!has_loops && !stopped_ && placements_.is_complete(at.cursor) &&
        regions.may_end(at.state) &&
        regions.allow(at.state.region, regions.size(), at.begun, tile)) {
      stopped_ = !visit_(nest_.mapping());
    }
  }

  const PerDim<ExtentDomain>& domains_;
  const std::vector<ExtentRule>& rules_;
  const nests::Placements& placements_;
  const Unrolling& unrolling_;
  const Visit& visit_;
  nests::NestBuilder nest_;
  bool stopped_ = false;
};

}  // namespace

bool Mapspace::enumerate(const Visit& visit) const {
  for (const UnrollingClass& unrolling_class : unrolling_classes()) {
    const nests::Placements placements{*this, unrolling_class};
    if (constraints_.factors.imperfect) {
      if (!ImperfectEnumerator{*this, placements, unrolling_class.first, visit}.run()) {
        return false;
      }
      continue;
    }
    const PerDim<std::int64_t> bounds = temporal_bounds(problem_->workload(), unrolling_class);
    for (const Unrolling& unrolling : assignments(unrolling_class)) {
      if (!Enumerator{*this, placements, unrolling, bounds, visit}.run()) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace mapsim
