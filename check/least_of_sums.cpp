// SPDX-License-Identifier: Apache-2.0
#include "check/least_of_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace mapsim::check {

namespace {

// Of a crossing of two edges. An edge may be so steep that its energy an instant earlier is many
// times that of the crossing: energies are read that much later.
constexpr double kRounding = 1e-12;

// energy + weight * cycles is no less than `least`.
struct HalfPlane {
  double weight = 0;
  double least = 0;
};

// The least energy that half-planes leave at a latency: convex, falling, linear between crossings.
double energy_at(const std::vector<HalfPlane>& planes, double cycles) {
  double energy = 0;
  for (const HalfPlane& plane : planes) {
    energy = std::max(energy, plane.least - plane.weight * cycles);
  }
  return energy;
}

}  // namespace

double least_of_sums(const Goal& goal, const std::vector<ProvenSum>& sums) {
  const double most_energy = goal.max_energy ? *goal.max_energy * (1 + kTolerance) : kInfinity;
  const double most_cycles = goal.max_latency ? *goal.max_latency * (1 + kTolerance) : kInfinity;
  std::vector<HalfPlane> planes{{0, 0}};  // no energy is negative
  double fewest_cycles = 0;
  for (const ProvenSum& sum : sums) {
    if (!(sum.least < kInfinity)) {
      return kInfinity;
    }
    if (sum.function.is_latency()) {
      fewest_cycles = std::max(fewest_cycles, sum.least);
    } else {
      planes.push_back({sum.function.value(0, 1), sum.least});
    }
  }
  for (const HalfPlane& plane : planes) {
    const double beyond = plane.least * (1 - kRounding) - most_energy;
    if (beyond > 0) {
      fewest_cycles = plane.weight > 0 ? std::max(fewest_cycles, beyond / plane.weight) : kInfinity;
    }
  }
  if (!(fewest_cycles < kInfinity) || fewest_cycles > most_cycles) {
    return kInfinity;
  }
  const auto value_at = [&](double cycles) {
    const double energy = energy_at(planes, cycles * (1 + kRounding));
    // No infinity of what is beyond all numbers: it says that there is no tree.
    return std::min(goal.value(std::min(energy, most_energy), cycles),
                    std::numeric_limits<double>::max());
  };
  double least = value_at(fewest_cycles);
  if (most_cycles < kInfinity) {
    least = std::min(least, value_at(most_cycles));
  }
  for (std::size_t i = 0; i < planes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double cycles =
          (planes[i].least - planes[j].least) / (planes[i].weight - planes[j].weight);
      if (cycles > fewest_cycles && cycles < most_cycles) {  // not of two equal weights
        least = std::min(least, value_at(cycles));
      }
    }
  }
  return least;
}

std::vector<ProvenSum> needed_sums(const Goal& goal, std::vector<ProvenSum> sums, double enough) {
  for (std::size_t i = sums.size(); i-- > 0 && sums.size() > 1;) {
    std::vector<ProvenSum> others = sums;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (least_of_sums(goal, others) >= enough) {
      sums = std::move(others);
    }
  }
  return sums;
}

}  // namespace mapsim::check
