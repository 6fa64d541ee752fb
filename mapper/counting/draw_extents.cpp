// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/extents.hpp"
#include "mapper/counting/ruled_extents.hpp"
#include "mapper/mapspace/builder.hpp"

namespace mapsim::nests {

// Draws a nest from the outside in. Each step is weighted by the number of ways to finish after it.
class RuledExtents::Draw {
 public:
  Draw(const RuledExtents& table, const UnrollingClass& unrolling_class, Rng& rng)
      : table_{table},
        rng_{rng},
        nest_{*table.space_, table.placements_, unrolling_class.first},
        at_{table.start()},
        above_last_{nest_.mark()} {
    for (const ExtentDomain& domain : table.space_->domains()) {
      left_.push_back(domain.size() - 1);
    }
  }

  Mapping run() {
    while (step()) {
    }
    return nest_.mapping();
  }

 private:
  // Returns false if the nest ends.
  bool step() {
    const Ways& ways = table_.known_.at(at_);
    const mpz_class end = table_.ends(at_) ? 1 : 0;
    mpz_class rest = below(ways.extents + (may_have_point_ ? ways.rest : end), rng_);
    if (rest < ways.extents) {
      add_extent(rest);
      return true;
    }
    rest -= ways.extents;
    if (rest < end) {
      return false;
    }
    rest -= end;
    for (const NextPoint& next_point : table_.points_.from(at_.cursor)) {
      const auto next = table_.after_point(at_, next_point);
      const mpz_class weight =
          next ? table_.known_.at(*next).extents + (table_.ends(*next) ? 1 : 0) : mpz_class{0};
      if (rest < weight) {
        nest_.add_point(next_point.point);
        at_ = *next;
        last_.reset();
        may_have_point_ = false;
        return true;
      }
      rest -= weight;
    }
    return false;  // cannot happen: the weights add up to the ways
  }

  void add_extent(mpz_class rest) {
    for (const Axis& axis : table_.axes_) {
      const auto next = table_.after_extent(at_, axis);
      if (!next) {
        continue;
      }
      const Ways& ways = table_.known_.at(*next);
      const mpz_class weight = ways.extents + ways.rest;
      if (rest < weight) {
        add_loop(draw_dim(axis));
        at_ = *next;
        may_have_point_ = true;
        return;
      }
      rest -= weight;
    }
  }

  // All orders of the extents of a class are equally likely.
  DimId draw_dim(const Axis& axis) {
    if (axis.measured) {
      return axis.dims.front();
    }
    std::size_t nth = rng_.below(table_.digit(axis, at_.tile));
    std::size_t i = 0;
    while (nth >= left_[axis.dims[i]]) {
      nth -= left_[axis.dims[i++]];
    }
    return axis.dims[i];
  }

  // Adds an extent; continues the loop above if it is over the same dim.
  void add_loop(DimId dim) {
    const ExtentDomain& domain = table_.space_->domains()[dim];
    const std::int64_t extent = domain[extent_of(domain, nest_.extents()[dim]) - 1];
    if (dim == last_) {
      nest_.cut(above_last_);
    } else {
      above_last_ = nest_.mark();
    }
    nest_.add_loop_to(dim, extent);
    --left_[dim];
    last_ = dim;
  }

  const RuledExtents& table_;
  Rng& rng_;
  NestBuilder nest_;
  At at_;
  PerDim<std::size_t> left_;   // extents of each dim
  std::optional<DimId> last_;  // of the loop that the nest ends with
  NestBuilder::Mark above_last_;
  bool may_have_point_ = true;
};

Mapping RuledExtents::sample(const UnrollingClass& unrolling_class, Rng& rng) const {
  return Draw{*this, unrolling_class, rng}.run();
}

}  // namespace mapsim::nests
