// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mapper/graph/valuation.hpp"

namespace mapsim::exact {

// What a search knows of its answer, and so what it can leave out: the best mapping, or a Pareto
// front, of which no point is better than another in both figures. A front has the first figure
// ascending and the second one descending; first figures that differ by no more than rounding count
// as equal.
class Incumbent {
 public:
  static constexpr std::int64_t kNoTag = -1;
  struct Point {
    Key key;
    std::int64_t tag = kNoTag;  // whose point it is, up to the user; none: known from elsewhere
  };

  // One mapping whose key is no more than the limit; infinite: none is known.
  Incumbent(const Key& limit = {}) : best_{limit} {}
  // A front of which nothing is known. `is_measured`: the second figure is what a mapping takes of
  // a capacity, of which lower bounds know nothing.
  static Incumbent front(bool is_measured);

  bool is_front() const { return is_front_; }
  bool is_measured() const { return is_measured_; }
  std::span<const Point> points() const;
  // Of one mapping: infinite if none is known.
  const Key& limit() const { return best_.key; }
  // Is nothing with this key of interest? One mapping: it is worse; a front: a point is no worse in
  // either figure. An infinite key never is.
  bool covers(const Key& key) const;
  // The same of everything whose figures are no less than these of a lower bound.
  bool rules_out(const Key& bound) const;
  // Adds what is not covered, and drops what is no better than it. Of equal mappings the newest
  // stays, of equal points of a front the oldest.
  void insert(const Key& key, std::int64_t tag = kNoTag);
  // The same points, known from elsewhere.
  Incumbent without_tags() const;

 private:
  bool is_front_ = false;
  bool is_measured_ = false;
  Point best_;
  std::vector<Point> points_;  // of a front
};

// The most energy [pJ] that what is known does not rule out, where no mapping needs less than
// `least` per component (energy not looked at; other components can only add to the figures).
// Negative: there is none. `least_second`: of the second figure of a front.
double most_energy(const Valuation& valuation, std::vector<double> least, const Incumbent& known,
                   double least_second = 0);

}  // namespace mapsim::exact
