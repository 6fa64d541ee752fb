// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/partial_folds.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/threads.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/bounds/energy_bound.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/label_search/label_search.hpp"

namespace mapsim::exact {

namespace {

// Unrollings beyond these keep their bounds, and so do those that are left after as many labels as
// the mapspace took, or these. Proving the last fraction of a percent is not worth more time than
// the optimum itself.
constexpr std::size_t kMostUnrollings = 256;
constexpr std::int64_t kLeastLabels = 50'000;

struct Case {
  UnrollingClass unrolling_class;
  PerDim<std::int64_t> rounded;  // bounds, rounded up
  double share = 1;    // lower bound of (a count here) / (the count in the rounded problem)
  double cycles = 0;   // of the array, at least
  ObjectiveKey bound;  // of all mappings of the case, for the real problem
};

class EdgeFolds {
 public:
  EdgeFolds(const Mapspace& space, const SearchOptions& options, SearchResult& result)
      : space_{space}, problem_{space.problem()}, options_{options}, result_{result} {}

  void run() {
    list_cases();
    const std::int64_t most = std::max(kLeastLabels, result_.statistics.labels);
    Deadline deadline(options_);
    double bound = kInfinity;
    std::int64_t labels = 0;
    for (std::size_t first = 0; first < cases_.size(); first += kBatch) {
      const std::size_t last = std::min(first + kBatch, cases_.size());
      if (cases_[first].bound.first >= best() * (1 - kRounding) || first >= kMostUnrollings ||
          labels >= most || deadline.over()) {
        bound = std::min(bound, cases_[first].bound.first);
        break;
      }
      std::vector<Found> found(last - first);
      const double limit = best();
      for_each_on_threads(found.size(), options_.threads, [&](std::size_t i) {
        found[i] = search(cases_[first + i], limit, (most - labels) / kBatch + 1, deadline);
      });
      for (const Found& each : found) {
        take(each);
        labels += each.labels;
        bound = std::min(bound, each.bound);
      }
    }
    if (!cases_.empty()) {
      conclude(bound);
    }
  }

 private:
  static constexpr std::size_t kBatch = 8;
  struct Found {
    std::optional<Mapping> mapping;
    double bound = 0;
    std::int64_t labels = 0;
    std::int64_t states = 0;
  };

  double best() const {
    return result_.cost ? objective_value(options_.objective, *result_.cost) : kInfinity;
  }

  // Lists the cases that may be faster than the best mapping without partial folds.
  void list_cases() {
    const double known =
        result_.cost ? static_cast<double>(
                           latency_of(options_.objective.mode, result_.cost->latency).count())
                     : kInfinity;
    const auto roof =
        static_cast<double>(roofline(problem_.arch(), problem_.workload()).least_cycles.count());
    const double energy = energy_bound(space_);
    const UnrollingTasks classes(space_, options_.objective);
    const StateGraph& any = classes.graph(0);
    std::vector<double> components(2 + any.ports().size(), 0.0);
    components[0] = energy;
    for (UnrollingClass& unrolling_class : list_unrolling_classes(
             problem_, {space_.constraints().spatial, space_.constraints().unroll,
                        /*remainders=*/true})) {
      Case each{std::move(unrolling_class), bounds_of(problem_.workload()), 1, 0, {}};
      const auto bounds = temporal_bounds(problem_.workload(), each.unrolling_class);
      for (const DimId d : bounds.ids()) {
        const std::int64_t bound = each.rounded[d];
        each.rounded[d] = bounds[d] * each.unrolling_class.factors[FanoutId{0}][d];
        each.share *= static_cast<double>(bound) / static_cast<double>(each.rounded[d]);
      }
      if (each.share == 1) {
        continue;
      }
      // If waves cross only what a fold occupies, the last fold may occupy a single instance.
      const bool is_whole = array_.partial_folds(problem_.arch()) == PartialFolds::kTime;
      const ArraySize used =
          is_whole ? size_of(array_use(problem_, each.unrolling_class.first)) : ArraySize{};
      each.cycles = array_.least_cycles(problem_, used, bounds,
                                        *may_stay_with(problem_, each.unrolling_class));
      if (each.cycles < known) {
        each.cycles = std::max(each.cycles, roof);
        each.bound = PathObjective(any, options_.objective, each.cycles).key(components.data());
        cases_.push_back(std::move(each));
      }
    }
    std::stable_sort(cases_.begin(), cases_.end(),
                     [](const Case& a, const Case& b) { return a.bound < b.bound; });
  }

  // The problem with bounds rounded up, on a machine whose energies and port bits are scaled by the
  // share. Energy of hops is not proportional to points, and counts as nothing. With `enlarged`
  // capacities, whatever fits the real problem fits this one.
  Problem rounded(const Case& each, bool enlarged) const {
    Workload workload = problem_.workload();
    for (const DimId d : workload.dims.ids()) {
      workload.dims[d].bound = each.rounded[d];
    }
    Arch arch = problem_.arch();
    for (Storage& level : arch.levels) {
      StorageEnergy& energy = level.energy;
      energy = {each.share * energy.read, each.share * energy.write, each.share * energy.update};
      for (auto* port : {&level.bandwidth.read, &level.bandwidth.write, &level.bandwidth.shared,
                         &level.bandwidth.link}) {
        *port = *port ? std::optional(BitsPerCycle{(*port)->count() / each.share}) : std::nullopt;
      }
    }
    Fanout& array = arch.fanouts[FanoutId{0}];
    array.reduction_energy = each.share * array.reduction_energy;
    array.reduction_by_width = false;
    array.energy_per_hop.reset();
    arch.compute.energy = each.share * arch.compute.energy;
    arch.compute.energy_by_width = false;
    for (std::size_t l = 0; enlarged && l < arch.levels_above[FanoutId{0}]; ++l) {
      enlarge(arch.levels[static_cast<LevelId>(l)].capacity, 1 / each.share);
    }
    return {std::move(arch), std::move(workload)};
  }

  static void enlarge(Capacity& capacity, double factor) {
    const auto more = [factor](Bits bits) {
      return Bits{static_cast<std::int64_t>(std::ceil(static_cast<double>(bits.count()) * factor)) +
                  2};
    };
    if (capacity.shared) {
      capacity.shared = more(*capacity.shared);
    }
    for (auto& [role, bits] : capacity.per_role) {
      bits = more(bits);
    }
  }

  // `limit`: value of the best mapping so far.
  Found search(const Case& each, double limit, std::int64_t labels,
               const Deadline& deadline) const {
    Found found = search_rounded(each, true, limit, labels, deadline);
    if (found.mapping && !std::holds_alternative<Cost>(evaluate(problem_, *found.mapping))) {
      Found fitting = search_rounded(each, false, limit, labels, deadline);
      found.mapping = std::move(fitting.mapping);
      found.labels += fitting.labels;
      found.states += fitting.states;
    }
    return found;
  }

  Found search_rounded(const Case& each, bool enlarged, double limit, std::int64_t labels,
                       const Deadline& deadline) const {
    const Problem there = rounded(each, enlarged);
    Constraints constraints = space_.constraints();
    constraints.spatial = each.unrolling_class.first;
    const Mapspace space{there, constraints};
    Objective objective = options_.objective;  // limits apply to the real problem, not to this one
    objective.max_energy.reset();
    objective.max_latency.reset();
    const UnrollingTasks classes(space, objective);
    LabelQuery query;
    query.known = limit < kInfinity ? ObjectiveKey{limit, kInfinity} : ObjectiveKey{};
    query.labels = labels;
    Found found;
    // If the time of a fold depends on the rows and columns in use, only the bound is known.
    const bool full = array_.partial_folds(problem_.arch()) == PartialFolds::kTime;
    const auto bound = [&](double value) {
      return full ? std::max(each.bound.first, value) : each.bound.first;
    };
    const auto tables = classes.build(0, query.known, true);
    found.states = static_cast<std::int64_t>(tables->bound.nodes().size());
    const ObjectiveKey root = tables->root();
    if (query.known.dominates(root)) {
      found.bound = bound(std::min(root.first, query.known.limit().first));
      return found;
    }
    const LabelResult labelled = search_labels(*tables, query, deadline);
    found.labels = labelled.expanded;
    found.bound = bound(labelled.bound.first);
    if (!labelled.goals.empty()) {
      found.mapping =
          canonical(problem_.workload(), classes.mapping(*tables, 0, labelled.goals.front().steps));
    }
    return found;
  }

  void take(const Found& found) {
    ++result_.statistics.unrollings;
    ++result_.statistics.unrollings_total;
    result_.statistics.labels += found.labels;
    result_.statistics.states += found.states;
    if (!found.mapping) {
      return;
    }
    ++result_.statistics.evaluations;
    const Evaluation evaluation = evaluate(problem_, *found.mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost != nullptr && is_within_limits(options_.objective, *cost) &&
        (!result_.cost || better(options_.objective, *cost, *result_.cost))) {
      result_.best = found.mapping;
      result_.cost = *cost;
    }
  }

  void conclude(double bound) {
    Certificate& proof = result_.certificate;
    if (proof.status == Proof::kInfeasible) {
      proof.lower_bound = kInfinity;
    }
    proof.divisors = Certificate::Divisors{divisors_, proof.lower_bound};
    const double value = best();
    proof.lower_bound = std::min({value, proof.lower_bound, bound});
    if (!result_.cost) {
      proof.status = bound < kInfinity ? Proof::kBounded : proof.status;
      return;
    }
    const bool tight = proof.lower_bound >= value * (1 - kRounding);
    proof.lower_bound = tight ? value : proof.lower_bound;
    proof.gap = tight ? 0 : value / proof.lower_bound - 1;
    proof.status = tight ? Proof::kOptimal : proof.lower_bound > 0 ? Proof::kBounded : Proof::kNone;
    if (tight && options_.objective.exact_ties) {
      // The energies of equally fast mappings with partial folds are not known
      proof.bound_but_for_free_boundaries = value;
    }
  }

  const Mapspace& space_;
  const Problem& problem_;
  const ArrayModel& array_ = *timing_model(problem_.arch()).array;
  const SearchOptions& options_;
  SearchResult& result_;
  std::optional<double> divisors_ =
      result_.cost ? std::optional(objective_value(options_.objective, *result_.cost))
                   : std::nullopt;
  std::vector<Case> cases_;
};

}  // namespace

bool has_partial_folds(const Mapspace& space, const Objective& objective) {
  const Constraints& constraints = space.constraints();
  return may_leave_remainders(space.problem().arch()) && objective.function.uses_latency() &&
         !constraints.spatial && !constraints.factors.imperfect && !space.is_ruled();
}

void search_partial_folds(const Mapspace& space, const SearchOptions& options,
                          SearchResult& result) {
  if (has_partial_folds(space, options.objective)) {
    EdgeFolds(space, options, result).run();
  }
}

}  // namespace mapsim::exact
