// SPDX-License-Identifier: Apache-2.0
#include "check/phases.hpp"

#include <algorithm>
#include <queue>

#include "check/goal.hpp"
#include "core/arithmetic.hpp"

namespace mapsim::check {

namespace {

constexpr int kMostHalvings = 400;

using Extents = PerDim<std::int64_t>;

// Elements of a tensor for so many indices of each dim, at least.
double elements_of(const Tensor& tensor, const Extents& indices) {
  double elements = 1;
  for (const Rank& rank : tensor.ranks) {
    std::int64_t coordinates = 1;
    for (const Term& term : rank.terms) {
      coordinates += indices[term.dim] - 1;
    }
    elements *= static_cast<double>(coordinates);
  }
  return elements;
}

// All boxes with, per dim, one of the extents number first to last.
struct Boxes {
  double bound = 0;
  std::vector<std::pair<std::size_t, std::size_t>> along;
  bool operator<(const Boxes& other) const { return bound > other.bound; }
};

class BoxSearch {
 public:
  BoxSearch(const Workload& workload, const PerDim<std::vector<std::int64_t>>& extents,
            const std::vector<SharedBox>& capacities, const std::pair<TensorId, TensorId>& tensors,
            const CostOfBox& cost, double tolerance)
      : workload_{workload},
        extents_{extents},
        capacities_{capacities},
        tensors_{tensors},
        cost_{cost},
        tolerance_{tolerance} {}

  // The least bound is halved until it belongs to a box that fits.
  double least() {
    Boxes all;
    for (const std::vector<std::int64_t>& of : extents_) {
      all.along.emplace_back(0, of.size() - 1);
    }
    add(all);
    for (int i = 0; i < kMostHalvings && is_open(); ++i) {
      halve();
    }
    return waiting_.empty() ? found_ : std::min(found_, waiting_.top().bound);
  }

 private:
  bool is_open() const { return !waiting_.empty() && waiting_.top().bound < found_ - tolerance_; }

  // The largest box costs least, and the smallest one fits best.
  void add(Boxes boxes) {
    if (!fits(corner(boxes, false))) {
      return;
    }
    const Extents largest = corner(boxes, true);
    boxes.bound = cost(largest);
    found_ = std::min(found_, fits(largest) ? boxes.bound : cost(corner(boxes, false)));
    if (boxes.bound < found_) {
      waiting_.push(std::move(boxes));
    }
  }

  void halve() {
    Boxes boxes = waiting_.top();
    waiting_.pop();
    const Extents least = corner(boxes, false);
    const Extents most = corner(boxes, true);
    DimId widest{};
    for (const DimId d : extents_.ids()) {
      widest = most[d] * least[widest] > most[widest] * least[d] ? d : widest;
    }
    auto& [first, last] = boxes.along[index_of(widest)];
    const std::size_t middle = (first + last) / 2;
    const std::size_t end = last;
    last = middle;
    add(boxes);
    first = middle + 1;
    last = end;
    add(std::move(boxes));
  }

  Extents corner(const Boxes& boxes, bool largest) const {
    Extents extents;
    for (const DimId d : extents_.ids()) {
      const auto& [first, last] = boxes.along[index_of(d)];
      extents.push_back(extents_[d][largest ? last : first]);
    }
    return extents;
  }

  bool fits(const Extents& box) const {
    return std::all_of(capacities_.begin(), capacities_.end(), [&](const SharedBox& shared) {
      Extents part = box;
      for (const DimId d : part.ids()) {
        part[d] = ceil_div(box[d], shared.shares[d]);
      }
      double bits = 0;
      for (const SharedCapacities::Tile& tile : shared.capacity.tiles) {
        bits += tile.bits * least_points(workload_.tensors[tile.tensor], part);
      }
      return bits <= shared.capacity.bits;
    });
  }

  double cost(const Extents& box) const {
    double operations = 1;
    for (const std::int64_t extent : box) {
      operations *= static_cast<double>(extent);
    }
    return cost_(elements_of(workload_.tensors[tensors_.first], box) / operations,
                 elements_of(workload_.tensors[tensors_.second], box) / operations);
  }

  const Workload& workload_;
  const PerDim<std::vector<std::int64_t>>& extents_;
  const std::vector<SharedBox>& capacities_;
  std::pair<TensorId, TensorId> tensors_;
  const CostOfBox& cost_;
  double tolerance_;
  std::priority_queue<Boxes> waiting_;
  double found_ = kInfinity;
};

}  // namespace

double least_phase_cost(const Workload& workload, const PerDim<std::vector<std::int64_t>>& extents,
                        const std::vector<SharedBox>& capacities,
                        const std::pair<TensorId, TensorId>& tensors, const CostOfBox& cost,
                        double tolerance) {
  return BoxSearch{workload, extents, capacities, tensors, cost, tolerance}.least();
}

}  // namespace mapsim::check
