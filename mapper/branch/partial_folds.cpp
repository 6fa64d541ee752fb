// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/partial_folds.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
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
  double cycles = 0;     // of the array, at least
  ObjectiveKey bound;    // of all mappings of the case, for the real problem
  std::size_t rank = 0;  // in the order of lists
  friend bool operator<(const Case& a, const Case& b) {
    return std::tie(a.bound, a.cycles, a.rank) < std::tie(b.bound, b.cycles, b.rank);
  }
};

class EdgeFolds {
 public:
  EdgeFolds(const Mapspace& space, const SearchOptions& options, const Deadline& deadline,
            SearchResult& result)
      : space_{space},
        problem_{space.problem()},
        options_{options},
        deadline_{deadline},
        result_{result} {
    const Workload& workload = problem_.workload();
    for (const TensorId t : workload.tensors.ids()) {
      all_tensors_.insert(t);
    }
    for (const DimId d : workload.dims.ids()) {
      operations_ *= static_cast<double>(workload.dims[d].bound);
    }
  }

  void run() {
    find_cases();
    const std::int64_t most =
        std::min(std::max(kLeastLabels, result_.statistics.labels),
                 std::max<std::int64_t>(0, options_.budget.labels - result_.statistics.labels));
    double bound = left_out_;
    std::int64_t labels = 0;
    for (std::size_t first = 0; first < cases_.size(); first += kBatch) {
      const std::size_t last = std::min(first + kBatch, cases_.size());
      if (cases_[first].bound.first >= best() * (1 - kRounding) || first >= kMostUnrollings ||
          labels >= most || deadline_.over()) {
        bound = std::min(bound, cases_[first].bound.first);
        break;
      }
      std::vector<Found> found(last - first);
      const double limit = best();
      for_each_on_threads(found.size(), options_.threads, [&](std::size_t i) {
        found[i] = search(cases_[first + i], limit, (most - labels) / kBatch + 1);
      });
      for (const Found& each : found) {
        take(each);
        labels += each.labels;
        bound = std::min(bound, each.bound);
      }
    }
    if (!cases_.empty() || left_out_ < kInfinity) {
      conclude(bound);
    }
  }

 private:
  static constexpr std::size_t kBatch = 8;
  static constexpr std::size_t kPoll = 64;  // some ten microseconds
  struct Found {
    std::optional<Mapping> mapping;
    double bound = 0;
    std::int64_t labels = 0;
    std::int64_t states = 0;
  };

  double best() const {
    return result_.cost ? objective_value(options_.objective, *result_.cost) : kInfinity;
  }

  // Finds the best cases of those that may be faster than the best mapping without partial folds,
  // one more than are searched: its bound holds for all others.
  void find_cases() {
    known_ = result_.cost ? static_cast<double>(
                                latency_of(options_.objective.mode, result_.cost->latency).count())
                          : kInfinity;
    bounds_.emplace(space_, options_.objective);
    const UnrollingClass idle = class_of(PerDim<std::int64_t>(problem_.workload().dims.size(), 1));
    const SharedGraph& shared = *bounds_->shared_graph_of(idle).shared_graph;
    any_ = &*shared.path_objective;
    components_.assign(2 + shared.graph->ports().size(), 0.0);
    components_[0] = energy_bound(space_);
    std::size_t rank = 0;
    visit_choices(problem_, FanoutId{0}, space_.unrolling_limits(/*remainders=*/true),
                  {[this](const PerDim<std::int64_t>& factors, std::size_t dims,
                          std::int64_t left) { return may_matter(factors, dims, left); },
                   [&](const FanoutChoice& choice) { add_cases(choice, rank); }});
    std::sort(cases_.begin(), cases_.end());
  }

  static UnrollingClass class_of(const PerDim<std::int64_t>& factors) {
    return {PerFanout<PerDim<std::int64_t>>(1, factors), 1, {}};
  }

  // What the objective is at least if the array takes so many cycles.
  ObjectiveKey key(double cycles) const {
    return any_->key(components_.data(), std::max(cycles, roof_));
  }

  // The cycles of the array that are enough to rule out a case: once there are as many cases as are
  // kept, those of the worst one.
  bool is_ruled_out(double cycles) const {
    return cycles >= known_ || (cases_.size() > kMostUnrollings &&
                                std::pair{key(cycles), cycles} >=
                                    std::pair{cases_.front().bound, cases_.front().cycles});
  }

  // Dims from `dims` on may have any factors, with at most `left` instances together.
  bool may_matter(const PerDim<std::int64_t>& factors, std::size_t dims, std::int64_t left) {
    PerDim<std::int64_t> bounds = bounds_of(problem_.workload());
    double steps = operations_ / static_cast<double>(left);
    for (const DimId d : bounds.ids()) {
      const std::int64_t bound = bounds[d];
      const std::int64_t most = index_of(d) < dims ? factors[d] : std::min(left, bound);
      bounds[d] = (bound + most - 1) / most;
      steps *= index_of(d) < dims ? static_cast<double>(bounds[d]) / static_cast<double>(bound) : 1;
    }
    const TimingModel& model = timing_model(problem_.arch());
    steps *= static_cast<double>(problem_.arch().compute.issue_interval);
    const double cycles =
        std::max(model.cycles_of_steps(problem_, steps * (1 - kRounding)),
                 array_.least_cycles(problem_, ArraySize{}, bounds, all_tensors_));
    if (is_ruled_out(cycles)) {
      return false;
    }
    is_over_ = is_over_ || (polls_++ % kPoll == 0 && deadline_.over());
    if (is_over_) {
      left_out_ = std::min(left_out_, key(cycles).first);
    }
    return !is_over_;
  }

  // The cases of these factors, one for each way to give them to the axes.
  void add_cases(const FanoutChoice& choice, std::size_t& rank) {
    UnrollingClass unrolling_class = class_of(choice.factors);
    const PerDim<std::int64_t> bounds = temporal_bounds(problem_.workload(), unrolling_class);
    if (rounded_bounds(unrolling_class) == bounds_of(problem_.workload())) {
      return;
    }
    // If waves cross only what a fold occupies, the last fold may occupy a single instance.
    const bool is_whole = array_.partial_folds(problem_.arch()) == PartialFolds::kTime;
    for (Unrolling& way : axis_assignments(problem_, space_.unrolling_limits(/*remainders=*/true),
                                           FanoutId{0}, choice.factors)) {
      unrolling_class.first = std::move(way);
      const ArraySize used =
          is_whole ? size_of(array_use(problem_, unrolling_class.first)) : ArraySize{};
      const double cycles =
          array_.least_cycles(problem_, used, bounds, *may_stay_with(problem_, unrolling_class));
      if (!is_ruled_out(cycles)) {
        cases_.push_back({unrolling_class, cycles, key(cycles), rank++});
        std::push_heap(cases_.begin(), cases_.end());
      }
      if (cases_.size() > kMostUnrollings + 1) {
        std::pop_heap(cases_.begin(), cases_.end());
        cases_.pop_back();
      }
    }
  }

  // The bounds, rounded up to whole folds.
  PerDim<std::int64_t> rounded_bounds(const UnrollingClass& unrolling_class) const {
    PerDim<std::int64_t> rounded = temporal_bounds(problem_.workload(), unrolling_class);
    for (const DimId d : rounded.ids()) {
      rounded[d] *= unrolling_class.factors[FanoutId{0}][d];
    }
    return rounded;
  }
  // A lower bound of (a count here) / (the count in the rounded problem).
  double share_of(const PerDim<std::int64_t>& rounded) const {
    double share = 1;
    for (const DimId d : rounded.ids()) {
      share *=
          static_cast<double>(problem_.workload().dims[d].bound) / static_cast<double>(rounded[d]);
    }
    return share;
  }

  // The problem with bounds rounded up, on a machine whose energies and port bits are scaled by the
  // share. Energy of hops is not proportional to points, and counts as nothing. With `enlarged`
  // capacities, whatever fits the real problem fits this one.
  Problem rounded(const Case& each, bool enlarged) const {
    Workload workload = problem_.workload();
    const PerDim<std::int64_t> bounds = rounded_bounds(each.unrolling_class);
    const double share = share_of(bounds);
    for (const DimId d : workload.dims.ids()) {
      workload.dims[d].bound = bounds[d];
    }
    Arch arch = problem_.arch();
    for (Storage& level : arch.levels) {
      StorageEnergy& energy = level.energy;
      energy = {share * energy.read, share * energy.write, share * energy.update};
      for (auto* port : {&level.bandwidth.read, &level.bandwidth.write, &level.bandwidth.shared,
                         &level.bandwidth.link}) {
        *port = *port ? std::optional(BitsPerCycle{(*port)->count() / share}) : std::nullopt;
      }
    }
    Fanout& array = arch.fanouts[FanoutId{0}];
    array.reduction_energy = share * array.reduction_energy;
    array.reduction_by_width = false;
    array.energy_per_hop.reset();
    arch.compute.energy = share * arch.compute.energy;
    arch.compute.energy_by_width = false;
    for (std::size_t l = 0; enlarged && l < arch.levels_above[FanoutId{0}]; ++l) {
      enlarge(arch.levels[static_cast<LevelId>(l)].capacity, 1 / share);
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
  Found search(const Case& each, double limit, std::int64_t labels) const {
    Found found;
    found.bound = each.bound.first;
    is_within_budget([&] { search_within_budget(each, limit, labels, found); });
    return found;
  }
  void search_within_budget(const Case& each, double limit, std::int64_t labels,
                            Found& found) const {
    found = search_rounded(each, true, limit, labels);
    if (found.mapping && !std::holds_alternative<Cost>(evaluate(problem_, *found.mapping))) {
      found.mapping.reset();
      Found fitting = search_rounded(each, false, limit, labels);
      found.mapping = std::move(fitting.mapping);
      found.labels += fitting.labels;
      found.states += fitting.states;
    }
  }

  Found search_rounded(const Case& each, bool enlarged, double limit, std::int64_t labels) const {
    const Problem there = rounded(each, enlarged);
    Constraints constraints = space_.constraints();
    constraints.spatial = each.unrolling_class.first;
    const Mapspace space{there, constraints};
    Objective objective = options_.objective;  // limits apply to the real problem, not to this one
    objective.max_energy.reset();
    objective.max_latency.reset();
    const UnrollingTasks classes(space, objective, &deadline_);
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
    const LabelResult labelled = search_labels(*tables, query, deadline_);
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
  const Deadline& deadline_;
  SearchResult& result_;
  std::optional<double> divisors_ =
      result_.cost ? std::optional(objective_value(options_.objective, *result_.cost))
                   : std::nullopt;
  double known_ = kInfinity;  // cycles of the best mapping without partial folds
  const double roof_ =
      static_cast<double>(roofline(problem_.arch(), problem_.workload()).least_cycles.count());
  double operations_ = 1;
  TensorSet all_tensors_;
  std::optional<ClassBounds> bounds_;
  const PathObjective* any_ = nullptr;  // of the machine with an idle array
  std::vector<double> components_;
  std::size_t polls_ = 0;
  bool is_over_ = false;         // the time, while cases are found
  double left_out_ = kInfinity;  // the least bound of what there was no time to look at
  std::vector<Case> cases_;      // while they are found, a heap with the worst first
};

}  // namespace

bool has_partial_folds(const Mapspace& space, const Objective& objective) {
  const Constraints& constraints = space.constraints();
  return may_leave_remainders(space.problem().arch()) && objective.function.uses_latency() &&
         !constraints.spatial && !constraints.factors.imperfect && !space.is_ruled();
}

void search_partial_folds(const Mapspace& space, const SearchOptions& options,
                          const Deadline& deadline, SearchResult& result) {
  if (has_partial_folds(space, options.objective)) {
    EdgeFolds(space, options, deadline, result).run();
  }
}

}  // namespace mapsim::exact
