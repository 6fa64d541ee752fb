// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mapper/graph/path_objective.hpp"

namespace mapsim::exact {

// The incumbent: the best known answer of a search, by which it prunes. It is one mapping, or a
// Pareto front. In a front no point is at least as good as another one in both figures, so the
// first figure ascends while the second one descends. First figures that differ by no more than
// rounding count as equal.
class Incumbent {
 public:
  static constexpr std::int64_t kNoTag = -1;
  struct Point {
    ObjectiveKey key;
    // Chosen by the caller, to say whose point it is; kNoTag: found elsewhere.
    std::int64_t tag = kNoTag;
  };

  // One mapping with this key; infinite: none is known.
  Incumbent(const ObjectiveKey& limit = {}) : best_{limit} {}
  // An empty front. `is_measured`: its second figure is the use of a capacity, of which lower
  // bounds know nothing.
  static Incumbent front(bool is_measured);

  bool is_front() const { return is_front_; }
  bool is_measured() const { return is_measured_; }
  std::span<const Point> points() const;
  // The key of the one mapping; infinite: none is known.
  const ObjectiveKey& limit() const { return best_.key; }
  // May a mapping with this key be pruned? One mapping: yes if the key is worse. A front: yes if
  // some point is no worse in both figures. An infinite key always may.
  bool dominates(const ObjectiveKey& key) const;
  // May all mappings be pruned whose figures are at least those of the lower bound?
  bool rules_out(const ObjectiveKey& bound) const;
  // Adds a key that is not dominated, and drops points that are no better than it. Among equal keys
  // a mapping keeps the newest, a front the oldest.
  void insert(const ObjectiveKey& key, std::int64_t tag = kNoTag);
  // The same points, all with kNoTag.
  Incumbent without_tags() const;

 private:
  bool is_front_ = false;
  bool is_measured_ = false;
  Point best_;
  std::vector<Point> points_;  // of a front, first figure ascending
};

// The cutoff: the largest energy [pJ] that the incumbent does not rule out; negative: it rules out
// all. `least`: lower bounds of the components of every mapping; the first one, energy, is ignored.
// `least_second`: a lower bound of the second figure of a front.
double most_energy(const PathObjective& path_objective, std::vector<double> least,
                   const Incumbent& known, double least_second = 0);

}  // namespace mapsim::exact
