// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "costmodel/fusion/branch.hpp"
#include "costmodel/mapping.hpp"
#include "mapper/mapspace/factors.hpp"
#include "mapper/mapspace/rules.hpp"
#include "mapper/mapspace/unrolling.hpp"
#include "mapper/mapspace/unrolling_classes.hpp"

namespace mapsim {

enum class KeepRule : std::uint8_t { kFree, kKeep, kBypass };

// The user's constraints, in addition to those of the architecture.
struct Constraints {
  bool even = false;  // all keeps of a level stand at one point, levels in order
  // The given spatial unrolling. It is complete for each fanout of which it names an axis (factor 1
  // names an axis and leaves it idle); other fanouts are free.
  std::optional<Unrolling> spatial;
  // Per level and tensor; empty: all are free. Rules of the architecture are added, and take
  // precedence.
  PerLevel<PerTensor<KeepRule>> keeps;
  std::vector<UnrollRule> unroll{};   // at most one per fanout
  std::vector<ExtentRule> extents{};  // of tiles
  std::vector<LoopRule> loops{};      // at most one per node; for levels only in even spaces
  Factors factors{};
  // At most one loop over a dim between two keeps or fanouts, and over a fanout whose unrolling is
  // not given. Perfect factors only.
  bool one_loop_per_dim = false;
  friend bool operator==(const Constraints&, const Constraints&) = default;
};

// The declared mapspace: every canonical mapping (costmodel/mapping.hpp) with
// - extents. Perfect factors: every extent divides the extent above it. Imperfect factors: extents
//   are those of mapper/mapspace/factors.hpp, and a parallel loop over `factor` instances gives
//   ceil(extent / factor) to each;
// - unrollings: per fanout axis a product of factors of at most its size, with dims that the
//   architecture allows. The parallel nodes of a fanout are adjacent, X before Y, dims in order;
// - keeps that the architecture and the constraints allow, each at any point of the nest that the
//   structure rules allow (even spaces: the keeps of one level at one point);
// - tiles and loops that the rules allow (mapper/mapspace/rules.hpp);
// - any loop order, with at most one loop per dim between two keeps, fanouts, or loops over other
//   dims; with one_loop_per_dim at most one between two keeps or fanouts, and a dim is unrolled
//   over one axis of a fanout.
// Capacities are not part of it: a mapping of the space may not fit. mapper/baselines/sampler.hpp
// draws uniform samples.
class Mapspace {
 public:
  // `problem` outlives the mapspace.
  Mapspace(const Problem& problem, Constraints constraints, BranchEntry entry = {});
  Mapspace(const Problem&& problem, Constraints constraints, BranchEntry entry = {}) = delete;

  const Problem& problem() const { return *problem_; }
  const BranchEntry& entry() const { return entry_; }
  const Constraints& constraints() const { return constraints_; }
  const PerDim<ExtentDomain>& domains() const { return domains_; }  // extents that tiles may have
  KeepRule keep_rule(LevelId level, TensorId tensor) const;         // kKeep for the outermost level
  // Do rules tie loops and keeps together? Then nests are counted one by one.
  bool is_ruled() const {
    return !constraints_.extents.empty() || !constraints_.loops.empty() ||
           constraints_.one_loop_per_dim;
  }

  // The classes of spatial unrollings: unrollings with equal costs. Perfect factors; they are not
  // listed.
  const UnrollingClasses& classes() const { return *classes_; }
  // Perfect factors: all classes, grouped by used fanouts and by the bounds left to temporal loops.
  const std::vector<UnrollingClasses::Product>& products() const { return counts().products; }
  std::int64_t class_count() const { return counts().classes; }
  // Counts classes and products. `stop` is called now and then with the number of steps so far; if
  // it returns true, counting ends. Returns true if it is finished.
  bool count_unless(const std::function<bool(std::int64_t steps)>& stop) const;
  // All classes in a fixed order. The list is made on the first call; millions of classes take
  // minutes and gigabytes.
  const std::vector<UnrollingClass>& unrolling_classes() const;
  // Can the classes be listed? With imperfect factors there may be too many.
  bool is_listable() const;
  std::vector<Unrolling> assignments(const UnrollingClass& unrolling_class) const;
  UnrollingLimits unrolling_limits(bool remainders = false) const {
    return {constraints_.spatial, constraints_.unroll, remainders, constraints_.one_loop_per_dim};
  }
  // All unrollings, class by class.
  std::vector<Unrolling> unrollings() const;
  std::int64_t unrolling_count() const { return counts().unrollings; }

  // Calls `visit` with each mapping once, in a fixed order, until it returns false. Returns false
  // if `visit` did.
  bool enumerate(const std::function<bool(const Mapping&)>& visit) const;

 private:
  const Problem* problem_;
  Constraints constraints_;
  BranchEntry entry_;
  PerDim<ExtentDomain> domains_;
  std::optional<UnrollingClasses> classes_;  // perfect factors
  // Results that are computed on first use; copies of the space share them.
  struct Found {
    std::once_flag listed;
    std::optional<std::vector<UnrollingClass>> list;
    std::mutex counting;
    bool counted = false;
    std::vector<UnrollingClasses::Product> products;
    std::int64_t classes = 0;
    std::int64_t unrollings = 0;
  };
  const Found& counts() const;
  std::shared_ptr<Found> found_ = std::make_shared<Found>();
};

}  // namespace mapsim
