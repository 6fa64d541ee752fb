// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "core/factor.hpp"
#include "mapper/counting/ruled.hpp"
#include "mapper/mapspace/builder.hpp"

namespace mapsim::nests {
namespace {

// Draws a nest from the outside in. Each step is weighted by the number of ways to finish after it.
class Draw {
 public:
  Draw(const Mapspace& space, const RuledTable& table, const Unrolling& unrolling,
       const PerDim<std::int64_t>& bounds, Rng& rng)
      : table_{table},
        rng_{rng},
        once_{space.constraints().one_loop_per_dim},
        left_{bounds},
        nest_{space, table.placements(), unrolling} {}

  Mapping run() {
    while (step()) {
    }
    return nest_.mapping();
  }

 private:
  // A loop over one dim that may come next.
  struct Next {
    DimId dim{};
    std::int64_t factor = 1;
    RuledTable::At at;
    double weight = 0;
  };

  // The loops over `dim` that may come next. ways[r]: the ways to finish with r of it left, if the
  // loop above is over it and the next one is not; a loop is drawn with this weight.
  void list_loops(DimId dim, std::vector<Next>& found) const {
    const std::vector<std::int64_t> sizes = divisors_of(left_[dim]);
    std::vector<double> begun;  // ways from each size on that begin with a loop over the dim
    std::vector<Next> next;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      double first = 0;
      for (std::size_t to = 0; to < i; ++to) {
        first += sizes[i] % sizes[to] == 0 ? next[to].weight : 0;
      }
      const auto at = table_.after_loop(at_, dim, left_[dim] / sizes[i]);
      begun.push_back(at ? first : 0);
      double weight = 0;
      if (at && i + 1 < sizes.size()) {
        PerDim<std::int64_t> left = left_;
        left[dim] = sizes[i];
        const RuledTable::Ways ways = table_.ways(*at, left);
        weight = mpz_class{ways.loops + ways.rest}.get_d() - (once_ ? 0 : begun.back());
      }
      next.push_back({dim, left_[dim] / sizes[i], at.value_or(at_), weight});
    }
    next.pop_back();  // nothing cut off
    for (const Next& loop : next) {
      if (loop.weight > 0) {
        found.push_back(loop);
      }
    }
  }

  // Returns false if the nest ends.
  bool step() {
    std::vector<Next> loops;
    for (const DimId d : left_.ids()) {
      if (left_[d] > 1 && d != last_) {
        list_loops(d, loops);
      }
    }
    double sum = 0;
    for (const Next& loop : loops) {
      sum += loop.weight;
    }
    const std::vector<NextPoint>& points = table_.points(at_.cursor);
    std::vector<double> weights;
    for (std::size_t p = 0; p < points.size() && may_have_point_; ++p) {
      weights.push_back(weight_of(points[p]));
      sum += weights.back();
    }
    const double end = is_end(at_) ? 1 : 0;
    double rest = rng_.uniform() * (sum + end);
    for (const Next& loop : loops) {
      if (rest < loop.weight) {
        take(loop);
        return true;
      }
      rest -= loop.weight;
    }
    for (std::size_t p = 0; p < weights.size(); ++p) {
      if (rest < weights[p]) {
        take(points[p]);
        return true;
      }
      rest -= weights[p];
    }
    if (end > 0) {
      return false;
    }
    return take_last(loops, points, weights);  // rounding has left a rest
  }

  bool take_last(const std::vector<Next>& loops, const std::vector<NextPoint>& points,
                 const std::vector<double>& weights) {
    for (std::size_t p = weights.size(); p-- > 0;) {
      if (weights[p] > 0) {
        take(points[p]);
        return true;
      }
    }
    if (!loops.empty()) {
      take(loops.back());
    }
    return !loops.empty();
  }

  bool is_end(const RuledTable::At& at) const {
    for (const std::int64_t left : left_) {
      if (left > 1) {
        return false;
      }
    }
    return table_.ends(at);
  }

  double weight_of(const NextPoint& next_point) const {
    const auto at = table_.after_point(at_, next_point, left_);
    return at ? table_.ways(*at, left_).loops.get_d() + (is_end(*at) ? 1 : 0) : 0;
  }

  void take(const Next& loop) {
    nest_.add_loop(loop.dim, loop.factor);
    left_[loop.dim] /= loop.factor;
    at_ = loop.at;
    last_ = loop.dim;
    may_have_point_ = true;
  }
  void take(const NextPoint& next_point) {
    at_ = *table_.after_point(at_, next_point, left_);
    nest_.add_point(next_point.point);
    last_.reset();
    may_have_point_ = false;
  }

  const RuledTable& table_;
  Rng& rng_;
  bool once_;  // at most one loop over a dim between two points
  PerDim<std::int64_t> left_;
  NestBuilder nest_;
  RuledTable::At at_;
  std::optional<DimId> last_;
  bool may_have_point_ = true;
};

}  // namespace

Mapping draw_ruled(const Mapspace& space, const RuledTable& table, const Unrolling& unrolling,
                   const PerDim<std::int64_t>& bounds, Rng& rng) {
  return Draw{space, table, unrolling, bounds, rng}.run();
}

}  // namespace mapsim::nests
