// SPDX-License-Identifier: Apache-2.0
#include "check/first_keeps.hpp"

#include <algorithm>
#include <bit>

#include "check/extent_domains.hpp"
#include "check/phases.hpp"

namespace mapsim::check {

namespace {

class SourceTraffic {
 public:
  SourceTraffic(const Problem& problem, const PathCosts& costs,
                const std::vector<MovedTensor>& moved, const FirstKeeps& keeps, double tolerance)
      : problem_{problem}, costs_{costs}, moved_{moved}, keeps_{keeps}, tolerance_{tolerance} {}

  // What leaves the outermost level and arrives there, to and from the first keeps of the tensors
  // that have one, over all instances [pJ].
  double least() const {
    std::size_t kept = 0;
    double alone = 0;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      kept |= keeps_.first[i] == kNowhere ? 0 : std::size_t{1} << i;
      alone += keeps_.first[i] == kNowhere ? 0 : cost_at_source(i, 0);
    }
    if (std::popcount(kept) < 2 || !have_phases(moved_, kept)) {
      return alone;
    }
    double least = kInfinity;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      for (std::size_t k = 0; k < moved_.size(); ++k) {
        if (i != k && ((kept >> i) & 1U) != 0 && ((kept >> k) & 1U) != 0) {
          least = std::min(least, pair_at_source(kept, i, k));
        }
      }
    }
    return alone + least;
  }

 private:
  // Elements that leave the outermost level, or sums that arrive there.
  double cost_at_source(std::size_t i, double elements) const {
    if ((keeps_.charged >> i & 1U) != 0) {
      return 0;  // counts with the paths
    }
    const MovedTensor& moved = moved_[i];
    const double parent = std::max(elements, moved.distinct);
    return std::min(costs_.at_parent({&moved, LevelId{0}, false, {}}, parent),
                    costs_.at_parent({&moved, LevelId{0}, true, {}}, parent));
  }
  // What these two cost beyond their compulsory traffic, if they are the first two in the order.
  double pair_at_source(std::size_t kept, std::size_t innermost, std::size_t second) const {
    const Workload& workload = problem_.workload();
    std::size_t staying = kept & ~(std::size_t{1} << innermost);
    if (moved_[second].slides) {
      staying &= ~(std::size_t{1} << second);
    }
    DimSet told;
    const std::vector<SharedBox> capacities = first_capacities(staying, told);
    const CostOfBox cost = [&](double first_rate, double second_rate) {
      const double operations = costs_.operations();
      return cost_at_source(innermost, operations * first_rate) - cost_at_source(innermost, 0) +
             cost_at_source(second, operations * second_rate) - cost_at_source(second, 0);
    };
    const auto least = [&](const PerDim<std::vector<std::int64_t>>& extents,
                           const std::vector<SharedBox>& fitting) {
      return least_phase_cost(workload, extents, fitting, {moved_[innermost].id, moved_[second].id},
                              cost, tolerance_);
    };
    PerDim<std::vector<std::int64_t>> extents;
    for (const DimId d : workload.dims.ids()) {
      const std::int64_t bound = workload.dims[d].bound;
      extents.push_back(told.contains(d) ? even_extents(bound) : std::vector{bound});
    }
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (((staying >> i) & 1U) != 0 && moved_[i].residences[keeps_.first[i]].final) {
        return least_of_final_sums(moved_[i], moved_[i].residences[keeps_.first[i]].level, extents,
                                   capacities, least);
      }
    }
    return least(extents, capacities);
  }

  // The tiles of first keeps that stay. `told`: the dims that they have.
  std::vector<SharedBox> first_capacities(std::size_t staying, DimSet& told) const {
    std::vector<SharedBox> capacities;
    for (const LevelId l : problem_.arch().levels.ids()) {
      SharedCapacities at;
      std::vector<Role> roles;
      for (std::size_t i = 0; i < moved_.size(); ++i) {
        if (((staying >> i) & 1U) != 0 && moved_[i].residences[keeps_.first[i]].level == l) {
          costs_.add_tile(moved_[i], keeps_.first[i], roles, at);
        }
      }
      for (SharedCapacities::Capacity& capacity : at.all) {
        for (const SharedCapacities::Tile& tile : capacity.tiles) {
          told = told | problem_.workload().tensors[tile.tensor].dims();
        }
        capacities.push_back({std::move(capacity), costs_.instances().most_along(l)});
      }
    }
    return capacities;
  }

  // Sums that arrive at their first keep once, and are final there, while their tile stays. Either
  // the box has all indices that are summed over, or the sums of the box lack some of them after a
  // phase, and wait at the level or in the registers that add them.
  template <class Least>
  double least_of_final_sums(const MovedTensor& sums, LevelId first,
                             const PerDim<std::vector<std::int64_t>>& extents,
                             const std::vector<SharedBox>& capacities, const Least& least) const {
    PerDim<std::vector<std::int64_t>> summed = extents;
    for (const DimId d : summed.ids()) {
      if (!sums.tensor->dims().contains(d)) {
        summed[d] = {problem_.workload().dims[d].bound};
      }
    }
    double cost = least(summed, capacities);
    const auto wait_at = [&](const std::optional<LevelId>& at, double most_bits, double bits) {
      std::vector<SharedBox> beside = capacities;
      SharedBox& waiting = beside.emplace_back();
      waiting.capacity.bits = most_bits;
      waiting.capacity.tiles.push_back({sums.id, bits});
      waiting.shares = costs_.instances().most_along(at);
      cost = std::min(cost, least(extents, beside));
    };
    for (const Residence& at : sums.residences) {
      const auto capacity = problem_.capacity(at.level, sums.tensor->role);
      if (at.level > first && !at.final) {
        wait_at(at.level, capacity ? static_cast<double>(capacity->count()) : kInfinity,
                sums.bits_at(at));
      }
    }
    if (sums.latched) {
      wait_at(std::nullopt, 1, 1);
    }
    return cost;
  }

  const Problem& problem_;
  const PathCosts& costs_;
  const std::vector<MovedTensor>& moved_;
  const FirstKeeps& keeps_;
  double tolerance_;
};

}  // namespace

double least_at_source(const Problem& problem, const PathCosts& costs,
                       const std::vector<MovedTensor>& moved, const FirstKeeps& keeps,
                       double tolerance) {
  return SourceTraffic{problem, costs, moved, keeps, tolerance}.least();
}

}  // namespace mapsim::check
