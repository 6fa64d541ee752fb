// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/array_time.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "costmodel/timing/systolic.hpp"

namespace mapsim::exact {

Padding padding_of(const Problem& problem, const Unrolling& unrolling, TensorId tensor,
                   LevelId level) {
  if (!is_padded(problem, tensor) || !is_above_array(problem.arch(), level)) {
    return {};
  }
  const FanoutId id = std::get<SystolicTiming>(problem.arch().compute.timing).array;
  const Fanout& array = problem.arch().fanouts[id];
  std::int64_t used = 1;
  for (const Unroll& unroll : unrolling) {
    used *= unroll.fanout == id ? unroll.factor : 1;
  }
  return mapsim::padding_of(array.x * array.y, used);
}

ArrayTime::ArrayTime(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs)
    : graph_{graph},
      unrolled_{unrolled},
      costs_{costs},
      timing_{std::get<SystolicTiming>(graph.problem().arch().compute.timing)},
      steps_{graph.problem().arch().compute.issue_interval},
      cycles_(graph.edges().size()) {
  const Fanout& array = graph.problem().arch().fanouts[timing_.array];
  for (const Unroll& unroll : unrolled.unrolling) {
    if (unroll.fanout == timing_.array) {
      (unroll.axis == Axis::kX ? columns_ : rows_) *= unroll.factor;
    }
  }
  if (timing_.full_folds) {
    rows_ = array.y;
    columns_ = array.x;
  }
  for (const DimId d : graph.problem().workload().dims.ids()) {
    steps_ *= unrolled.bound(d);
  }
  const Fold fold = make_fold(steps_, rows_, columns_, 0, Stays::kOperand);
  without_ = static_cast<double>(time_of(sequence_of(fold)).total().count() - slip(timing_));
}

// Where in the order sums are resumed does not matter: every fold is as busy as any other.
double ArrayTime::time(double folds, double tiles, double elements, bool sums) const {
  const auto count = static_cast<std::int64_t>(folds);
  const auto first = sums ? static_cast<std::int64_t>(tiles) : count;
  const auto points = static_cast<std::int64_t>(elements);
  const auto run = [&](Stays stays, std::int64_t times) {
    const Fold fold = make_fold(steps_ / count, rows_, columns_, points, stays);
    return repeat(timing_, sequence_of(fold), times);
  };
  FoldSequence all = run(sums ? Stays::kSums : Stays::kOperand, first);
  if (first < count) {
    all = join(timing_, all, run(Stays::kResumedSums, count - first));
  }
  return static_cast<double>(time_of(all).total().count() - slip(timing_));
}

bool ArrayTime::enters(std::size_t index) const {
  const BoundaryEdge& edge = graph_.edges()[index];
  const std::vector<Residence>& residences = graph_.residences(edge.tensor);
  return edge.to != BoundaryEdge::kMac && !graph_.is_in_array(edge.tensor, residences[edge.from]) &&
         graph_.is_in_array(edge.tensor, residences[edge.to]);
}

bool ArrayTime::may_enter(std::size_t residency) const {
  for (const TensorId t : graph_.problem().workload().tensors.ids()) {
    if (!graph_.is_in_array(t, graph_.residence(residency, t)) &&
        graph_.is_in_array(t, graph_.residences(t).back())) {
      return true;
    }
  }
  return false;
}

bool ArrayTime::has_entered(std::size_t residency) const {
  for (const TensorId t : graph_.problem().workload().tensors.ids()) {
    if (graph_.is_in_array(t, graph_.residence(residency, t))) {
      return true;
    }
  }
  return false;
}

// The array is filled afresh whenever a loop above the edge advances: E_d / T_d, over all dims;
// over those of the tensor: tiles that it has not held before.
const std::vector<double>& ArrayTime::cycles(std::size_t index) {
  std::vector<double>& cycles = cycles_[index];
  if (cycles.empty()) {
    const BoundaryEdge& edge = graph_.edges()[index];
    const Lattice& lattice = unrolled_.lattices[edge.crossed];
    const bool sums = edge.tensor == graph_.problem().workload().output();
    const std::vector<double>& elements = costs_.elements(index);
    cycles.assign(lattice.size(), 1.0);
    std::vector<double> distinct(lattice.size(), 1.0);
    const DimSet moving = graph_.problem().shape(edge.tensor).dims;
    for (const DimId d : graph_.problem().workload().dims.ids()) {
      lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
        const std::int64_t trips = lattice.bound(d) / lattice.positions(d)[digit].extent;
        for (std::size_t tile = first; tile < last; ++tile) {
          cycles[tile] *= static_cast<double>(trips);
          distinct[tile] *= moving.contains(d) ? static_cast<double>(trips) : 1.0;
        }
      });
    }
    for (std::size_t tile = 0; tile < cycles.size(); ++tile) {
      cycles[tile] = time(cycles[tile], distinct[tile], elements[tile], sums);
    }
  }
  return cycles;
}

namespace {

// The most elements of a tensor that one instance of the array holds; infinite without a limit.
// Sums that are added up in it are partial, unless fanouts further in add them.
double most_elements(const Problem& problem, const SystolicTiming& timing, TensorId t) {
  const Tensor& tensor = problem.workload().tensors[t];
  DimSet reduced;
  for (const DimId d : problem.workload().dims.ids()) {
    if (problem.workload().dims[d].bound > 1 && !tensor.dims().contains(d)) {
      reduced.insert(d);
    }
  }
  const bool partial = t == problem.workload().output() && !reduced.empty() &&
                       timing.array == problem.arch().fanouts.last();
  const auto bits = static_cast<double>((partial ? tensor.partial_bits : tensor.bits).count());
  double most = problem.arch().compute.register_reuse.contains(tensor.role) ? 1 : 0;
  for (std::size_t i = problem.arch().levels_above[timing.array]; i < problem.arch().levels.size();
       ++i) {
    const auto l = static_cast<LevelId>(i);
    if (problem.may_keep(l, t)) {
      const auto room = problem.room(l, tensor.role);
      most =
          std::max(most, room ? std::floor(static_cast<double>(room->count()) / bits) : kInfinity);
    }
  }
  return most;
}

// What a tensor that stays needs at least: folds, and elements of an instance in all of them.
struct LeastFolds {
  double folds = kInfinity;
  double elements = kInfinity;
};

// E_d / T_d folds over its dims. A tile of e elements has T_d of at most e for each term of a rank,
// so that the folds have tiles / e^terms, and all their elements are tiles / e^(terms - 1).
LeastFolds least_folds(const Problem& problem, const SystolicTiming& timing,
                       const PerDim<std::int64_t>& bounds, TensorId t) {
  const double most = most_elements(problem, timing, t);
  double tiles = 1;
  std::size_t terms = 1;
  for (const Rank& rank : problem.workload().tensors[t].ranks) {
    terms = std::max(terms, rank.terms.size());
    for (const Term& term : rank.terms) {
      tiles *= static_cast<double>(bounds[term.dim]);
    }
  }
  if (most < 1) {
    return {};
  }
  const auto power = static_cast<double>(terms);
  const double folds = std::max(1.0, std::ceil(tiles / std::pow(most, power)));
  return {folds, std::max(folds, terms == 1 ? tiles : tiles / std::pow(most, power - 1))};
}

}  // namespace

double least_array_cycles(const Problem& problem, const UnrollingClass& unrolling_class,
                          const PerDim<std::int64_t>& bounds, TensorSet may_stay, bool remainder) {
  const auto& timing = std::get<SystolicTiming>(problem.arch().compute.timing);
  double rows = 1;
  double columns = 1;
  for (const Unroll& unroll : unrolling_class.first) {
    if (unroll.fanout == timing.array && !remainder) {
      (unroll.axis == Axis::kX ? columns : rows) *= static_cast<double>(unroll.factor);
    }
  }
  if (timing.full_folds) {
    rows = static_cast<double>(problem.arch().fanouts[timing.array].y);
    columns = static_cast<double>(problem.arch().fanouts[timing.array].x);
  }
  auto steps = static_cast<double>(problem.arch().compute.issue_interval);
  for (const std::int64_t bound : bounds) {
    steps *= static_cast<double>(bound);
  }
  double least = kInfinity;
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (!may_stay.contains(t)) {
      continue;
    }
    const LeastFolds least_of = least_folds(problem, timing, bounds, t);
    const bool sums = t == problem.workload().output();
    const double load = sums ? 0 : rows * (timing.hides_load ? 1 : least_of.elements);
    // Sums leave after rows * elements + columns - 2 cycles: of one column, the more folds the
    // sooner, and there are no more folds than elements.
    const bool narrow = sums && columns < 2 && !timing.hides_drain;
    const double shifted = timing.hides_drain ? 1 : least_of.elements;
    const double drain = sums ? (narrow ? rows - 1 : rows) * shifted : 0;
    const double skew = narrow ? 0 : sums ? columns - 2 : rows + columns - 2;
    least =
        std::min(least, steps + load + drain + skew * (timing.hides_drain ? 1 : least_of.folds));
  }
  return least - static_cast<double>(slip(timing));
}

}  // namespace mapsim::exact
