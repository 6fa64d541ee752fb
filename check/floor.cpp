// SPDX-License-Identifier: Apache-2.0
#include "check/floor.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "check/geometry.hpp"
#include "check/graph.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Energy per bit of what a level gives to what is further in, or takes from there.
double access_energy(const Storage& level, bool output) {
  return (output ? level.energy.update : level.energy.read).count();
}

// Energy per bit of what a level takes from further out, or gives back.
double arrival_energy(const Storage& level, bool output) {
  return (output ? level.energy.read : level.energy.write).count();
}

double product(const PerDim<std::int64_t>& factors, DimSet without) {
  double product = 1;
  for (const DimId d : factors.ids()) {
    product *= without.contains(d) ? 1.0 : static_cast<double>(factors[d]);
  }
  return product;
}

bool has_window(const Tensor& tensor) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(),
                     [](const Rank& rank) { return rank.terms.size() > 1; });
}

// Elements of a tensor that the units behind a level use at once, over the units that use them:
// what they share, at best. Units side by side along k dims of a window see the sum of them less
// k - 1 coordinates, or more.
double least_share(const Problem& problem, const SpatialFactors& factors, LevelId level,
                   TensorId t) {
  PerDim<std::int64_t> units(problem.workload().dims.size(), 1);
  for (const FanoutId f : factors.ids()) {
    const bool shares = problem.arch().is_above(level, f) && problem.is_merged(f, t);
    for (const DimId d : units.ids()) {
      units[d] *= shares ? factors[f][d] : 1;
    }
  }
  double used = 1;
  DimSet counted;
  for (const Rank& rank : problem.workload().tensors[t].ranks) {
    std::int64_t coordinates = 1;
    DimSet dims;
    for (const Term& term : rank.terms) {
      coordinates += units[term.dim] - 1;
      dims.insert(term.dim);
    }
    if ((dims & counted).empty()) {
      used *= static_cast<double>(coordinates);
    }
    counted = counted | dims;
  }
  return used / product(units, {});
}

// What the compute units' accesses to a level cost at least. The networks between are included
// where every instance of theirs has a sum to add, as with perfect factors: of a partial tile they
// add less, and more arrives.
double service(const Problem& problem, bool balanced, const SpatialFactors& factors, LevelId level,
               TensorId t, double distinct) {
  const Tensor& tensor = problem.workload().tensors[t];
  const Storage& storage = problem.arch().levels[level];
  const bool output = t == problem.workload().output();
  const double narrow = problem.moved_bits(t, tensor.bits);
  const double wide = problem.moved_bits(t, tensor.partial_bits);
  const auto operations = static_cast<double>(problem.macs());
  if (!output || has_window(tensor)) {
    return operations * least_share(problem, factors, level, t) *
           (output ? std::min(narrow, wide) : narrow) * access_energy(storage, output);
  }
  double arriving = operations;
  double network = 0;
  double places = 1;  // instances of the level that add to the same sums
  for (std::size_t i = factors.size(); i-- > 0;) {
    const auto f = static_cast<FanoutId>(i);
    const double added = product(factors[f], tensor.dims());
    if (!problem.arch().is_above(level, f)) {
      places *= added;
    } else if (problem.is_merged(f, t)) {
      network +=
          balanced ? 0.0 : (arriving - arriving / added) * problem.addition_energy(f).count();
      arriving /= added;
    }
  }
  const double again = std::max(0.0, arriving - distinct * places);
  return network +
         (arriving > distinct ? wide : narrow) *
             (arriving * storage.energy.update.count() + again * storage.energy.read.count());
}

// The cheapest way of a tensor to the compute units: every element once over each boundary, and
// the accesses to the level that serves them; a register of a unit serves it for nothing.
double tensor_floor(const Problem& problem, const Rules& rules, const SpatialFactors& factors,
                    TensorId t) {
  const Arch& arch = problem.arch();
  const Tensor& tensor = problem.workload().tensors[t];
  const bool output = t == problem.workload().output();
  const PerDim<std::int64_t> whole = bounds_of(problem.workload());
  double distinct = 1;
  for (const Rank& rank : tensor.ranks) {
    distinct *= static_cast<double>(count_coordinates(rank, whole));
  }
  const double once = distinct * std::min(problem.moved_bits(t, tensor.bits),
                                          problem.moved_bits(t, tensor.partial_bits));
  const bool latched = arch.compute.register_reuse.contains(tensor.role);
  PerLevel<double> way(arch.levels.size(), kInfinity);
  double least = kInfinity;
  for (const LevelId to : arch.levels.ids()) {
    way[to] = index_of(to) == 0 ? 0 : kInfinity;
    for (std::size_t l = index_of(to); l-- > 0;) {
      const auto from = static_cast<LevelId>(l);
      way[to] = std::min(way[to], way[from] + once * (access_energy(arch.levels[from], output) +
                                                      arrival_energy(arch.levels[to], output)));
      if (must_keep(problem, rules, from, t)) {
        break;  // nothing passes by
      }
    }
    if (!may_keep(problem, rules, to, t)) {
      way[to] = kInfinity;
      continue;
    }
    if (must_keep(problem, rules, to, t)) {
      least = kInfinity;
    }
    least = std::min(
        least, way[to] + (latched ? once * access_energy(arch.levels[to], output)
                                  : service(problem, rules.balanced, factors, to, t, distinct)));
  }
  return least;
}

// Folds that a tensor in the array takes at least: a tile of e elements in one instance has no
// extent above e, and a rank of k terms no more than e^k tiles' worth of them.
double least_folds(const Problem& problem, const SystolicTiming& timing,
                   const PerDim<std::int64_t>& bounds, TensorId t) {
  const Tensor& tensor = problem.workload().tensors[t];
  const auto width = static_cast<double>(std::min(tensor.bits, tensor.partial_bits).count());
  double most = problem.arch().compute.register_reuse.contains(tensor.role) ? 1 : 0;
  for (const LevelId l : problem.arch().levels.ids()) {
    if (!problem.arch().is_above(l, timing.array)) {
      const auto room = problem.room(l, tensor.role);
      most = std::max(most, room ? static_cast<double>(room->count()) / width : kInfinity);
    }
  }
  double tiles = 1;
  std::size_t terms = 1;
  for (const Rank& rank : tensor.ranks) {
    terms = std::max(terms, rank.terms.size());
    for (const Term& term : rank.terms) {
      tiles *= static_cast<double>(bounds[term.dim]);
    }
  }
  return std::max(1.0, tiles / std::pow(std::max(1.0, most), static_cast<double>(terms)));
}

// Beyond its operations, a systolic array shifts tiles in and lets waves leave (docs/systolic.md).
// Infinite: nothing may stay in it.
double array_floor(const Problem& problem, const SystolicTiming& timing, const Unrolling& unrolling,
                   const PerDim<std::int64_t>& bounds, double steps) {
  const Fanout& array = problem.arch().fanouts[timing.array];
  double rows = timing.full_folds ? static_cast<double>(array.y) : 1;
  double columns = timing.full_folds ? static_cast<double>(array.x) : 1;
  for (const DimId d : problem.workload().dims.ids()) {
    const Rules::AxisFactors& axes = unrolling.axes[timing.array];
    columns *= timing.full_folds ? 1 : static_cast<double>(axes[0][d]);
    rows *= timing.full_folds ? 1 : static_cast<double>(axes[1][d]);
  }
  const TensorSet may_stay = may_stay_in_array(problem, unrolling).value_or(TensorSet{});
  double least = kInfinity;
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (may_stay.contains(t)) {
      const double folds = least_folds(problem, timing, bounds, t);
      const bool sums = t == problem.workload().output();
      const double load = sums ? 0 : timing.hides_load ? rows : rows * folds;
      const double waves = timing.hides_drain ? 1 : folds;
      least = std::min(least, steps + load + waves * (rows + columns - 2));
    }
  }
  return least - (timing.scalesim ? 1 : 0);  // the number of the last one
}

}  // namespace

Figures floor_of(const Problem& problem, const Rules& rules, const Goal& goal,
                 const Unrolling& unrolling) {
  const SpatialFactors& factors = unrolling.factors;
  const PerDim<std::int64_t> bounds = temporal_bounds(problem.workload(), factors);
  auto cycles = static_cast<double>(problem.arch().compute.issue_interval);
  for (const std::int64_t bound : bounds) {
    cycles *= static_cast<double>(bound);
  }
  if (const auto* timing = std::get_if<SystolicTiming>(&problem.arch().compute.timing)) {
    cycles = array_floor(problem, *timing, unrolling, bounds, cycles);
  }
  if (!(cycles < kInfinity)) {
    return {kInfinity, kInfinity};
  }
  double energy = problem.mac_energy().count() * static_cast<double>(problem.macs()) +
                  problem.leakage(Cycles{1}).count() * cycles;
  for (const TensorId t : problem.workload().tensors.ids()) {
    energy += tensor_floor(problem, rules, factors, t);
  }
  return goal.figures(energy, cycles, 0);
}

}  // namespace mapsim::check
