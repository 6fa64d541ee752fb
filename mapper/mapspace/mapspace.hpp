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
#include "costmodel/mapping.hpp"
#include "mapper/mapspace/branch_entry.hpp"
#include "mapper/mapspace/factors.hpp"
#include "mapper/mapspace/rules.hpp"
#include "mapper/mapspace/unrolling.hpp"
#include "mapper/mapspace/unrolling_classes.hpp"

namespace mapsim {

enum class KeepRule : std::uint8_t { kFree, kKeep, kBypass };

// What the user fixes, beyond what the architecture demands.
struct Constraints {
  bool even = false;  // the keeps of one level stand together, levels in order
  // Given spatial unrolling, complete for every fanout that it names an axis of (a factor 1 names
  // an axis and leaves it idle); the fanouts that it does not name are free.
  std::optional<Unrolling> spatial;
  // Per level and tensor; empty = all free. The architecture's own rules are added to it, and win.
  PerLevel<PerTensor<KeepRule>> keeps;
  std::vector<UnrollRule> unroll{};   // one a fanout at most
  std::vector<ExtentRule> extents{};  // of tiles
  std::vector<LoopRule> loops{};      // one a node at most; for a level: even only
  Factors factors{};
  // At most one loop over a dim between two keeps or fanouts. Perfect factors only.
  bool one_loop_per_dim = false;
  friend bool operator==(const Constraints&, const Constraints&) = default;
};

// The declared mapspace: every canonical mapping (costmodel/mapping.hpp) with
//  - perfect factors: every extent divides the extent above it; or imperfect ones: every extent is
//    one of those that mapper/mapspace/factors.hpp lists, and a parallel loop gives ceil(extent /
//    factor) to each instance, `factor` being how many it uses;
//  - per fanout axis a product of factors <= its size, dims as the architecture allows; the
//    parallel nodes of one fanout stand together, X before Y, dims in order;
//  - keeps as the architecture and the constraints allow, each at any point of the nest that the
//    structure rules allow (even: the keeps of one level at one point);
//  - tiles and loops as the rules allow (mapper/mapspace/rules.hpp);
//  - any loop order, at most one loop per dim between two keeps or fanouts or loops over other
//  dims; with one_loop_per_dim at most one between two keeps or fanouts.
// Capacities are not part of the structure. Uniform samples: mapper/baselines/sampler.hpp.
class Mapspace {
 public:
  // `problem` outlives the mapspace.
  Mapspace(const Problem& problem, Constraints constraints, BranchEntry entry = {});
  Mapspace(const Problem&& problem, Constraints constraints, BranchEntry entry = {}) = delete;

  const Problem& problem() const { return *problem_; }
  const BranchEntry& entry() const { return entry_; }
  const Constraints& constraints() const { return constraints_; }
  const PerDim<ExtentDomain>& domains() const { return domains_; }  // extents that tiles may have
  KeepRule keep_rule(LevelId level, TensorId tensor) const;         // outermost level: kKeep
  // Are there rules that tie loops and keeps together? Then nests are counted one by one.
  bool is_ruled() const {
    return !constraints_.extents.empty() || !constraints_.loops.empty() ||
           constraints_.one_loop_per_dim;
  }

  // The classes of spatial unrollings: those whose costs are equal. Perfect factors: not listed.
  const UnrollingClasses& classes() const { return *classes_; }
  // Perfect factors: all of them, by what they leave to temporal loops.
  const std::vector<UnrollingClasses::Product>& products() const { return counts().products; }
  std::int64_t class_count() const { return counts().classes; }
  // Counts classes and products, unless `stop`, which is told now and then how many steps that took
  // so far, returns true. Is it done?
  bool count_unless(const std::function<bool(std::int64_t steps)>& stop) const;
  // All of them in a fixed order, listed when somebody asks for the first time: millions of them
  // take minutes and gigabytes.
  const std::vector<UnrollingClass>& unrolling_classes() const;
  // Can they be listed? Of imperfect factors there may be too many: then the list is refused.
  bool is_listable() const;
  std::vector<Unrolling> assignments(const UnrollingClass& unrolling_class) const;
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
  // What is found out when somebody asks for the first time; copies of the space share it.
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
