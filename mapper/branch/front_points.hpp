// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/bounds/incumbent.hpp"
#include "mapper/front.hpp"

namespace mapsim {

// The points of a front that is being searched.
class FrontPoints {
 public:
  explicit FrontPoints(bool is_measured) : known_{exact::Incumbent::front(is_measured)} {}

  const exact::Incumbent& known() const { return known_; }
  // Adds a point unless it is dominated. Among equal points the first stays.
  void insert(const exact::ObjectiveKey& key, FrontPoint point) {
    if (!known_.dominates(key)) {
      known_.insert(key, static_cast<std::int64_t>(points_.size()));
      points_.push_back(std::move(point));
    }
  }
  // The points that no other one dominates, the least value first.
  std::vector<FrontPoint> take() {
    std::vector<FrontPoint> front;
    for (const exact::Incumbent::Point& point : known_.points()) {
      front.push_back(std::move(points_[static_cast<std::size_t>(point.tag)]));
    }
    return front;
  }

 private:
  exact::Incumbent known_;  // tags are indices of points_
  std::vector<FrontPoint> points_;
};

// The initial points of the search of a front, to which it adds its own.
struct FrontTarget {
  std::optional<CurveCapacity> capacity;             // its use [b] is the second figure
  std::function<std::int64_t(const Cost&)> measure;  // the second figure of a mapping
  FrontPoints points;                                // points of mappings of the space
};

}  // namespace mapsim
