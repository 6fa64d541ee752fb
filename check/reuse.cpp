// SPDX-License-Identifier: Apache-2.0
#include "check/reuse.hpp"

#include <algorithm>
#include <numeric>

#include "costmodel/crossing.hpp"

namespace mapsim::check {

double least_points(const Tensor& tensor, const PerDim<std::int64_t>& extents) {
  double points = 1;
  for (const Rank& rank : tensor.ranks) {
    std::int64_t coordinates = 1;
    if (rank.terms.size() == 2) {
      const auto& [first, second] = std::pair{rank.terms[0], rank.terms[1]};
      const std::int64_t g = std::gcd(first.coefficient, second.coefficient);
      const std::int64_t a = extents[first.dim];
      const std::int64_t b = extents[second.dim];
      coordinates = a * b - std::max<std::int64_t>(0, a - second.coefficient / g) *
                                std::max<std::int64_t>(0, b - first.coefficient / g);
    } else {
      for (const Term& term : rank.terms) {
        coordinates += extents[term.dim] - 1;
      }
    }
    points *= static_cast<double>(coordinates);
  }
  return points;
}

namespace {

// How many index combinations of a window's dims have one coordinate, at most. The last index
// follows from the others; indices of the whole window with one coordinate are a/g or b/g apart.
double ways(const Workload& workload, const Rank& rank, const PerDim<std::int64_t>& extents) {
  double all = 1;
  std::int64_t most = 1;
  for (const Term& term : rank.terms) {
    const std::int64_t indices = std::min(extents[term.dim], workload.dims[term.dim].bound);
    all *= static_cast<double>(indices);
    most = std::max(most, indices);
  }
  double least = all / static_cast<double>(most);
  for (std::size_t i = 0; rank.terms.size() == 2 && i < 2; ++i) {
    const std::int64_t apart = rank.terms[1 - i].coefficient /
                               std::gcd(rank.terms[0].coefficient, rank.terms[1].coefficient);
    const std::int64_t bound = workload.dims[rank.terms[i].dim].bound;
    least = std::min(least, static_cast<double>((bound + apart - 1) / apart));
  }
  return least;
}

class Stay {
 public:
  Stay(const Workload& workload, const SharedCapacities& capacities, TensorId t, TensorSet outer,
       const PerDim<std::int64_t>& merged)
      : workload_{workload},
        capacities_{capacities},
        tensor_{workload.tensors[t]},
        own_{tensor_.dims()},
        merged_{merged},
        extents_{capacities.below} {
    DimSet told;
    for (const SharedCapacities::Capacity& capacity : capacities.all) {
      left_.push_back(capacity.bits);
      among_.emplace_back();
      for (const SharedCapacities::Tile& tile : capacity.tiles) {
        const Tensor& other = workload.tensors[tile.tensor];
        if (outer.contains(tile.tensor) && !(has_window(tensor_) && has_window(other))) {
          told = told | other.dims();
          among_.back().push_back(tile);
        } else {
          left_.back() -= tile.bits * least_points(other, capacities.below);
        }
      }
    }
    bool slides = !capacities.latch;
    for (const DimId d : extents_.ids()) {
      slides = slides || (merged[d] > 1 && is_in_window(tensor_, d));
    }
    for (const DimId d : extents_.ids()) {
      if (!own_.contains(d) || (slides && is_in_window(tensor_, d))) {
        free_.insert(d);
      }
      if (free_.contains(d) && told.contains(d)) {
        open_.push_back(d);
      } else if (free_.contains(d)) {
        extents_[d] = capacities.met[d];
      }
    }
  }

  double most() {
    if (fits()) {
      descend(0);
    }
    return most_;
  }

 private:
  // Larger extents take part in more operations, but fit less.
  void descend(std::size_t next) {
    if (next == open_.size()) {
      most_ = std::max(most_, operations());
      return;
    }
    const DimId d = open_[next];
    const std::vector<std::int64_t>& extents = capacities_.extents[d];
    for (std::size_t i = extents.size(); i-- > 0;) {
      extents_[d] = extents[i];
      if (at_most(next + 1) <= most_) {
        break;
      }
      if (fits()) {
        descend(next + 1);
      }
    }
    extents_[d] = capacities_.below[d];
  }

  // The operations if the dims from `next` on are as large as possible.
  double at_most(std::size_t next) {
    for (std::size_t i = next; i < open_.size(); ++i) {
      extents_[open_[i]] = capacities_.extents[open_[i]].back();
    }
    const double operations = this->operations();
    for (std::size_t i = next; i < open_.size(); ++i) {
      extents_[open_[i]] = capacities_.below[open_[i]];
    }
    return operations;
  }

  bool fits() const {
    for (std::size_t r = 0; r < left_.size(); ++r) {
      double bits = 0;
      for (const SharedCapacities::Tile& tile : among_[r]) {
        bits += tile.bits * least_points(workload_.tensors[tile.tensor], extents_);
      }
      if (bits > left_[r]) {
        return false;
      }
    }
    return true;
  }

  double operations() const {
    PerDim<std::int64_t> indices = extents_;
    double product = 1;
    for (const DimId d : indices.ids()) {
      indices[d] = std::min(indices[d] * merged_[d], workload_.dims[d].bound);
      product *= own_.contains(d) ? 1 : static_cast<double>(indices[d]);
    }
    for (const Rank& rank : tensor_.ranks) {
      product *= rank.terms.size() > 1 ? ways(workload_, rank, indices) : 1;
    }
    return product;
  }

  const Workload& workload_;
  const SharedCapacities& capacities_;
  const Tensor& tensor_;
  DimSet own_;  // dims of the tensor
  const PerDim<std::int64_t>& merged_;
  PerDim<std::int64_t> extents_;
  DimSet free_;               // dims of which an element meets several indices
  std::vector<DimId> open_;   // those of them that capacities limit
  std::vector<double> left_;  // per capacity: bits beside the smallest tiles
  std::vector<std::vector<SharedCapacities::Tile>>
      among_;  // per capacity: the tensors whose tiles are as large as T
  double most_ = 0;
};

}  // namespace

double most_operations(const Workload& workload, const SharedCapacities& capacities, TensorId t,
                       TensorSet outer, const PerDim<std::int64_t>& merged) {
  return Stay{workload, capacities, t, outer, merged}.most();
}

}  // namespace mapsim::check
