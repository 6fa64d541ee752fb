// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/array_time.hpp"

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

ArrayTime::ArrayTime(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs)
    : skeleton_{skeleton},
      unrolled_{unrolled},
      costs_{costs},
      timing_{std::get<SystolicTiming>(skeleton.problem().arch().compute.timing)},
      steps_{skeleton.problem().arch().compute.issue_interval},
      cycles_(skeleton.placings().size()) {
  const Fanout& array = skeleton.problem().arch().fanouts[timing_.array];
  for (const Unroll& unroll : unrolled.unrolling) {
    if (unroll.fanout == timing_.array) {
      (unroll.axis == Axis::kX ? columns_ : rows_) *= unroll.factor;
    }
  }
  if (timing_.full_folds) {
    rows_ = array.y;
    columns_ = array.x;
  }
  for (const DimId d : skeleton.problem().workload().dims.ids()) {
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
  const Placing& placing = skeleton_.placings()[index];
  const std::vector<Stop>& stops = skeleton_.stops(placing.tensor);
  return placing.to != Placing::kMac &&
         !skeleton_.is_in_array(placing.tensor, stops[placing.from]) &&
         skeleton_.is_in_array(placing.tensor, stops[placing.to]);
}

bool ArrayTime::may_enter(std::size_t pointers) const {
  for (const TensorId t : skeleton_.problem().workload().tensors.ids()) {
    if (!skeleton_.is_in_array(t, skeleton_.stop(pointers, t)) &&
        skeleton_.is_in_array(t, skeleton_.stops(t).back())) {
      return true;
    }
  }
  return false;
}

bool ArrayTime::has_entered(std::size_t pointers) const {
  for (const TensorId t : skeleton_.problem().workload().tensors.ids()) {
    if (skeleton_.is_in_array(t, skeleton_.stop(pointers, t))) {
      return true;
    }
  }
  return false;
}

// The array is filled afresh whenever a loop above the placing advances: E_d / T_d, over all dims;
// over those of the tensor: tiles that it has not held before.
const std::vector<double>& ArrayTime::cycles(std::size_t index) {
  std::vector<double>& cycles = cycles_[index];
  if (cycles.empty()) {
    const Placing& placing = skeleton_.placings()[index];
    const Lattice& lattice = unrolled_.lattices[placing.crossed];
    const bool sums = placing.tensor == skeleton_.problem().workload().output();
    const std::vector<double>& elements = costs_.elements(index);
    cycles.assign(lattice.size(), 1.0);
    std::vector<double> distinct(lattice.size(), 1.0);
    const DimSet moving = skeleton_.problem().shape(placing.tensor).dims;
    for (const DimId d : skeleton_.problem().workload().dims.ids()) {
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

double least_array_cycles(const Problem& problem, const UnrollingGroup& group,
                          const PerDim<std::int64_t>& bounds, TensorSet may_stay, bool remainder) {
  const auto& timing = std::get<SystolicTiming>(problem.arch().compute.timing);
  double rows = 1;
  double columns = 1;
  for (const Unroll& unroll : group.first) {
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

namespace {

// A loop costs nothing: what is least for a tile is so for the one that a run leads from.
void relax(const Lattice& lattice, DimId dim, const Lattice::Run& run, const double* below,
           double* row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t block = stride * lattice.positions(dim).size();
  for (std::size_t base = 0; base < lattice.size(); base += block) {
    const double* lower = below + base + run.to * stride;
    double* upper = row + base + run.from * stride;
    for (std::size_t i = 0; i < stride; ++i) {
      upper[i] = std::min(upper[i], lower[i]);
    }
  }
}

}  // namespace

ArrayBound::ArrayBound(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                       ArrayTime& array, const Bound& bound)
    : skeleton_{skeleton},
      unrolled_{unrolled},
      costs_{costs},
      array_{array},
      bound_{bound},
      nodes_{bound.nodes()},
      least_(bound.nodes().size(), kInfinity) {
  for (std::size_t phase = skeleton.phases(); phase-- > 0;) {
    for (std::size_t pointers = skeleton.pointers(); pointers-- > 0;) {
      if (skeleton.reachable(phase, pointers)) {
        fill({phase, pointers});
      }
    }
  }
}

void ArrayBound::fill(const Row& at) {
  if (!array_.may_enter(at.pointers)) {
    if (!array_.has_entered(at.pointers)) {
      const std::size_t tiles = unrolled_.lattices[skeleton_.crossed(at.phase)].size();
      std::fill_n(row(at), tiles, array_.without());
    }
    return;
  }
  if (at.phase + 1 < skeleton_.phases()) {
    cross(at);
  } else if (skeleton_.end(at.pointers) && !array_.has_entered(at.pointers)) {
    end(at);
  }
  place(at);
  for (const Skeleton::Jump& each : skeleton_.jumps(at.phase, at.pointers)) {
    jump(at, each);
  }
  loop(at);
}

void ArrayBound::end(const Row& at) {
  for (const std::size_t tile : unrolled_.lattices[skeleton_.crossed(at.phase)].ones()) {
    row(at)[tile] = array_.without();
  }
}

void ArrayBound::cross(const Row& at) {
  const auto behind = skeleton_.after_event(at.phase, at.pointers);
  if (!behind) {
    return;
  }
  const double* below = row({at.phase + 1, *behind});
  double* least = row(at);
  if (const auto fanout = skeleton_.event_after(at.phase).fanout) {
    const std::vector<std::size_t>& crossing = unrolled_.crossings[*fanout];
    std::transform(crossing.begin(), crossing.end(), least,
                   [below](std::size_t tile) { return below[tile]; });
  } else {
    std::copy_n(below, unrolled_.lattices[skeleton_.crossed(at.phase)].size(), least);
  }
}

void ArrayBound::place(const Row& at) {
  const std::size_t tiles = unrolled_.lattices[skeleton_.crossed(at.phase)].size();
  double* least = row(at);
  for (const Skeleton::Place& place : skeleton_.places(at.phase, at.pointers)) {
    if (!bound_.is_live(at.phase, place.target)) {
      continue;
    }
    const bool enters = array_.enters(place.placing);
    const std::vector<double>& energy = costs_.plain(place.placing);
    const double* to_go = bound_.row(at.phase, place.target);
    const double* below = row({at.phase, place.target});
    const double* now = enters ? array_.cycles(place.placing).data() : below;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double best = std::min(now[tile], below[tile]);
      const bool leads_on = energy[tile] < kInfinity && to_go[tile] < kInfinity;
      least[tile] = leads_on ? std::min(least[tile], best) : least[tile];
    }
  }
}

void ArrayBound::jump(const Row& at, const Skeleton::Jump& jump) {
  const Lattice& lattice = unrolled_.lattices[skeleton_.crossed(at.phase)];
  const auto& runs = lattice.runs(jump.dim);
  const std::size_t rests = lattice.size() / lattice.positions(jump.dim).size();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto target =
        skeleton_.after_loop(at.phase, jump.target, jump.dim, lattice.factor(jump.dim, runs[run]));
    if (!target || !bound_.is_live(at.phase, *target)) {
      continue;
    }
    const double* to_go = bound_.row(at.phase, *target);
    const double* below = row({at.phase, *target});
    for (std::size_t rest = 0; rest < rests; ++rest) {
      const std::size_t tile = lattice.from_rest(jump.dim, rest, runs[run].to);
      if (!(to_go[tile] < kInfinity)) {
        continue;
      }
      double now = below[tile];
      bool fits = true;
      for (const std::size_t placing : jump.placings) {
        fits = fits && costs_.sliding(placing, jump.dim)[run * rests + rest] < kInfinity;
        now = array_.enters(placing) ? std::min(now, array_.cycles(placing)[tile]) : now;
      }
      if (!fits) {
        continue;
      }
      double& least = row(at)[lattice.from_rest(jump.dim, rest, runs[run].from)];
      least = std::min(least, now);
    }
  }
}

void ArrayBound::loop(const Row& at) {
  const Lattice& lattice = unrolled_.lattices[skeleton_.crossed(at.phase)];
  const DimSet frozen = skeleton_.frozen(at.phase, at.pointers);
  for (const bool neutral : {false, true}) {  // what leads elsewhere has been bounded before
    for (std::size_t i = 0; i < lattice.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (frozen.contains(d) || skeleton_.is_neutral(at.phase, at.pointers, d) != neutral) {
        continue;
      }
      for (const Lattice::Run& run : lattice.primes(d)) {
        const auto target = skeleton_.after_loop(at.phase, at.pointers, d, lattice.factor(d, run));
        if (target) {
          relax(lattice, d, run, row({at.phase, *target}), row(at));
        }
      }
    }
  }
}

}  // namespace mapsim::exact
