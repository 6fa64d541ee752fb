// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/phase_boxes.hpp"

#include <algorithm>
#include <array>
#include <queue>

#include "core/arithmetic.hpp"
#include "costmodel/crossing.hpp"
#include "mapper/graph/parts.hpp"

namespace mapsim::exact {

namespace {

constexpr int kMostHalvings = 400;  // of which each takes some 0.5 us
constexpr auto kNoDim = static_cast<DimId>(kMaxDims);
// Per dim, the number of an extent.
using Digits = std::array<std::uint32_t, kMaxDims + 1>;

// Points of a window, at least, if neither dim's indices need be neighbours: a sum of two sets of
// numbers has at least |A| + |B| - 1 elements.
std::int64_t points_apart(const Rank& rank, const PerDim<std::int64_t>& indices) {
  return indices[rank.terms[0].dim] + indices[rank.terms[1].dim] - 1;
}

// Elements of a tensor's part of a box, tabulated by the extents of each rank.
class ElementTable {
 public:
  // `extent_of(extent, dim)`: the extent that counts. `points_of`: of a window.
  template <class ExtentOf, class PointsOf>
  ElementTable(const Workload& workload, TensorId t, const PerDim<ExtentDomain>& extents,
               const ExtentOf& extent_of, const PointsOf& points_of) {
    for (const Rank& rank : workload.tensors[t].ranks) {
      if (rank.terms.size() > 2) {
        continue;  // counted as one element
      }
      OfRank& of = ranks_.emplace_back();
      of.one = rank.terms[0].dim;
      of.other = rank.terms.size() > 1 ? rank.terms[1].dim : kNoDim;
      of.width = of.other == kNoDim ? 1 : extents[of.other].size();
      PerDim<std::int64_t> box(workload.dims.size(), 1);
      for (const std::int64_t extent : extents[of.one]) {
        box[of.one] = extent_of(extent, of.one);
        for (std::size_t k = 0; k < of.width; ++k) {
          if (of.other != kNoDim) {
            box[of.other] = extent_of(extents[of.other][k], of.other);
          }
          of.elements.push_back(real(of.other == kNoDim ? box[of.one] : points_of(rank, box)));
        }
      }
    }
  }
  double at(const Digits& digits) const {
    double elements = 1;
    for (const OfRank& of : ranks_) {
      elements *= of.elements[digits[index_of(of.one)] * of.width + digits[index_of(of.other)]];
    }
    return elements;
  }

 private:
  struct OfRank {
    DimId one{};
    DimId other = kNoDim;   // its digit is always 0
    std::size_t width = 1;  // extents of `other`
    std::vector<double> elements;
  };
  std::vector<OfRank> ranks_;
};

// All boxes from `least` to `most`.
struct BoxSet {
  double bound = 0;
  Digits least{};
  Digits most{};
  friend bool operator<(const BoxSet& a, const BoxSet& b) { return a.bound > b.bound; }
};

class PhaseBoxes {
 public:
  PhaseBoxes(const Workload& workload, const PerDim<ExtentDomain>& extents,
             const std::vector<SharedTiles>& capacities,
             const std::pair<TensorId, TensorId>& tensors, const CostOfRates& cost)
      : extents_{extents},
        capacities_{capacities},
        first_{workload, tensors.first, extents, kSame, points_apart},
        second_{workload, tensors.second, extents, kSame, points_apart},
        cost_{cost} {
    for (const SharedTiles& capacity : capacities) {
      for (const SharedTiles::Tile& tile : capacity.tiles) {
        tiles_.emplace_back(
            workload, tile.tensor, extents,
            [&](std::int64_t extent, DimId d) { return ceil_div(extent, capacity.shares[d]); },
            rank_points);
      }
    }
  }

  double least(double enough, double tolerance) {
    BoxSet all;
    for (const DimId d : extents_.ids()) {
      all.most[index_of(d)] = static_cast<std::uint32_t>(extents_[d].size() - 1);
    }
    push(all);
    for (int step = 0; !sets_.empty() && step < kMostHalvings; ++step) {
      const BoxSet set = sets_.top();
      if (set.bound >= enough || set.bound >= found_ - tolerance) {
        return std::min(set.bound, found_);
      }
      sets_.pop();
      halve(set);
    }
    return sets_.empty() ? found_ : std::min(found_, sets_.top().bound);
  }

 private:
  static constexpr auto kSame = [](std::int64_t extent, DimId) { return extent; };

  // Halves the set where its extents differ most.
  void halve(const BoxSet& set) {
    double widest = 1;
    DimId wide{};
    for (const DimId d : extents_.ids()) {
      const double ratio =
          real(extents_[d][set.most[index_of(d)]]) / real(extents_[d][set.least[index_of(d)]]);
      if (ratio > widest) {
        widest = ratio;
        wide = d;
      }
    }
    const std::size_t d = index_of(wide);
    const auto middle = static_cast<std::uint32_t>((set.least[d] + set.most[d]) / 2);
    BoxSet half = set;
    half.most[d] = middle;
    push(half);
    half = set;
    half.least[d] = static_cast<std::uint32_t>(middle + 1);
    push(half);
  }
  void push(BoxSet& set) {
    if (!fits(set.least)) {
      return;
    }
    set.bound = cost(set.most);
    found_ = std::min(found_, fits(set.most) ? set.bound : cost(set.least));
    if (set.bound < found_) {
      sets_.push(set);
    }
  }
  bool fits(const Digits& box) const {
    std::size_t tile = 0;
    for (const SharedTiles& capacity : capacities_) {
      double bits = 0;
      for (const SharedTiles::Tile& each : capacity.tiles) {
        bits += each.bits * tiles_[tile++].at(box);
      }
      if (bits > capacity.capacity) {
        return false;
      }
    }
    return true;
  }
  double cost(const Digits& box) const {
    double operations = 1;
    for (const DimId d : extents_.ids()) {
      operations *= real(extents_[d][box[index_of(d)]]);
    }
    return cost_(first_.at(box) / operations, second_.at(box) / operations);
  }

  const PerDim<ExtentDomain>& extents_;
  const std::vector<SharedTiles>& capacities_;
  std::vector<ElementTable> tiles_;  // of all capacities, one after the other
  ElementTable first_, second_;
  const CostOfRates& cost_;
  std::priority_queue<BoxSet> sets_;
  double found_ = kInfinity;  // the least cost of a box that fits
};

}  // namespace

double least_cost_of_boxes(const Workload& workload, const PerDim<ExtentDomain>& extents,
                           const std::vector<SharedTiles>& capacities,
                           const std::pair<TensorId, TensorId>& tensors, const CostOfRates& cost,
                           double enough, double tolerance) {
  return PhaseBoxes(workload, extents, capacities, tensors, cost).least(enough, tolerance);
}

}  // namespace mapsim::exact
