// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "mapper/exact/labels.hpp"
#include "mapper/exact/rebuild.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

using exact::Key;

// One lattice search: an unrolling, and the blocks at which its window dims are cut.
struct Task {
  std::size_t group = 0;
  exact::Unrolled unrolled;
  Key bound;
};

// The block of dim d at used fanout f matters where a union of instances slides along d, or where
// sums of a window in the output are told apart by instance.
bool block_matters(const Problem& problem, FanoutId fanout, DimId d) {
  for (const TensorId t : problem.workload().tensors.ids()) {
    const bool output = t == problem.workload().output();
    if (exact::slides_along(problem.workload().tensors[t], d) &&
        (output || problem.is_merged(fanout, t))) {
      return true;
    }
  }
  return false;
}

// Every way to choose the blocks: nested, each a divisor of the dim's temporal bound.
std::vector<exact::Unrolled> choose_blocks(const Problem& problem, exact::Unrolled unrolled,
                                           const exact::Lattice& lattice) {
  std::vector<exact::Unrolled> all{std::move(unrolled)};
  for (std::size_t f = 0; f < all.front().used.size(); ++f) {
    for (const DimId d : problem.workload().dims.ids()) {
      if (all.front().factors[f][d] == 1 ||
          !block_matters(problem, all.front().used[f], d)) {
        continue;
      }
      std::vector<exact::Unrolled> chosen;
      for (const exact::Unrolled& so_far : all) {
        std::int64_t outer = lattice.bound(d);
        for (std::size_t g = 0; g < f; ++g) {
          outer = so_far.blocks[g][d] != 0 ? so_far.blocks[g][d] : outer;
        }
        for (const std::int64_t block : lattice.divisors(d)) {
          if (outer % block == 0) {
            chosen.push_back(so_far);
            chosen.back().blocks[f][d] = block;
          }
        }
      }
      all = std::move(chosen);
    }
  }
  return all;
}

std::vector<Task> make_tasks(const Mapspace& space) {
  const Problem& problem = space.problem();
  std::vector<Task> tasks;
  const auto& groups = space.group_by_factors();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    exact::Unrolled unrolled;
    for (const FanoutId f : groups[g].factors.ids()) {
      const auto& factors = groups[g].factors[f];
      if (std::any_of(factors.begin(), factors.end(), [](std::int64_t n) { return n > 1; })) {
        unrolled.used.push_back(f);
        unrolled.factors.push_back(factors);
        unrolled.blocks.emplace_back(factors.size(), 0);
      }
    }
    const exact::Lattice lattice(temporal_bounds(problem.workload(), groups[g]));
    for (exact::Unrolled& choice : choose_blocks(problem, std::move(unrolled), lattice)) {
      tasks.push_back({g, std::move(choice), {}});
    }
  }
  return tasks;
}

// Everything that a lattice search needs, built for one task.
struct Instance {
  Instance(const exact::Skeleton& skeleton_in, const Task& task, Objective objective)
      : skeleton{skeleton_in},
        lattice(temporal_bounds(
            skeleton.problem().workload(),
            skeleton.space().group_by_factors()[task.group])),
        unrolled{task.unrolled},
        costs(skeleton, lattice, unrolled, objective != Objective::kEnergy),
        bound(skeleton, lattice, unrolled, costs),
        valuation(skeleton.problem(), skeleton.ports(), objective, compute_cycles()) {}

  double compute_cycles() const {
    double steps = 1;
    for (std::size_t d = 0; d < lattice.dims(); ++d) {
      steps *= static_cast<double>(lattice.bound(static_cast<DimId>(d)));
    }
    return steps * static_cast<double>(skeleton.problem().arch().compute.issue_interval);
  }
  Key root() const {
    return root_key(skeleton, lattice, bound, valuation, costs.components());
  }

  const exact::Skeleton& skeleton;
  exact::Lattice lattice;
  const exact::Unrolled& unrolled;
  exact::Costs costs;
  exact::Bound bound;
  exact::Valuation valuation;
};

// The best so far, shared by threads. Which of equals it is does not depend on who comes first.
class Incumbent {
 public:
  Incumbent(const Problem& problem, Objective objective)
      : problem_{problem}, objective_{objective} {}

  Key limit() {
    const std::lock_guard lock(mutex_);
    return limit_;
  }
  void offer(const Mapping& mapping, Key key, std::size_t task) {
    const Evaluation evaluation = evaluate(problem_, mapping);
    const std::lock_guard lock(mutex_);
    ++evaluations;
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost == nullptr) {
      return;
    }
    const bool first = !best || better(objective_, *cost, *best_cost) ||
                       (!better(objective_, *best_cost, *cost) && task < task_);
    if (first) {
      best = mapping;
      best_cost = *cost;
      task_ = task;
    }
    limit_ = std::min(limit_, key);
  }

  std::optional<Mapping> best;
  std::optional<Cost> best_cost;
  std::int64_t evaluations = 0;

 private:
  const Problem& problem_;
  Objective objective_;
  std::mutex mutex_;
  Key limit_;
  std::size_t task_ = 0;
};

class ExactSearch {
 public:
  ExactSearch(const Mapspace& space, const SearchOptions& options)
      : space_{space},
        options_{options},
        tasks_{make_tasks(space)},
        incumbent_{space.problem(), options.objective} {
    for (const Task& task : tasks_) {
      auto& skeleton = skeletons_[task.unrolled.used];
      if (!skeleton) {
        skeleton = std::make_unique<exact::Skeleton>(space, task.unrolled.used);
      }
    }
    instances_.resize(tasks_.size());
  }

  SearchResult run() {
    bound_all();
    std::vector<std::size_t> order(tasks_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return tasks_[a].bound < tasks_[b].bound;
    });
    search_all(order);
    return result();
  }

 private:
  // Few instances stay built between the two passes; of many, only the bounds.
  static constexpr std::size_t kKept = 8;

  const exact::Skeleton& skeleton_of(const Task& task) const {
    return *skeletons_.at(task.unrolled.used);
  }
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  void bound_all() {
    const auto count = static_cast<std::int64_t>(tasks_.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads)
    for (std::int64_t i = 0; i < count; ++i) {
      if (stopped()) {
        continue;
      }
      Task& task = tasks_[static_cast<std::size_t>(i)];
      auto instance = std::make_unique<Instance>(skeleton_of(task), task, options_.objective);
      task.bound = instance->root();
#pragma omp atomic
      states_ += instance->bound.states();
      if (tasks_.size() <= kKept) {
        instances_[static_cast<std::size_t>(i)] = std::move(instance);
      }
    }
  }

  void search_all(const std::vector<std::size_t>& order) {
    const auto count = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t index = order[static_cast<std::size_t>(i)];
      Task& task = tasks_[index];
      if (stopped() || !(task.bound.first < exact::kInfinity) ||
          task.bound.first > incumbent_.limit().first * (1 + 1e-11)) {
        continue;
      }
      search(index);
    }
  }

  void search(std::size_t index) {
    Task& task = tasks_[index];
    auto instance = std::move(instances_[index]);
    if (!instance) {
      instance = std::make_unique<Instance>(skeleton_of(task), task, options_.objective);
    }
    const exact::LabelResult found = exact::search_labels(
        instance->skeleton, instance->lattice, instance->unrolled, instance->costs,
        instance->bound, instance->valuation, [&] { return incumbent_.limit(); }, options_.stop);
    if (!found.steps.empty()) {
      incumbent_.offer(
          exact::rebuild(instance->skeleton, instance->lattice, instance->unrolled,
                         space_.group_by_factors()[task.group].first, found.steps),
          found.key, index);
    }
    task.bound = found.stopped ? found.bound : std::max(task.bound, found.bound);
#pragma omp atomic
    labels_ += found.expanded;
#pragma omp atomic
    ++searched_;
  }

  SearchResult result() {
    SearchResult result;
    result.best = std::move(incumbent_.best);
    result.cost = incumbent_.best_cost;
    result.interrupted = stopped();
    result.statistics.evaluations = incumbent_.evaluations;
    result.statistics.labels = labels_;
    result.statistics.states = states_;
    result.statistics.unrollings = searched_;
    result.statistics.unrollings_total = static_cast<std::int64_t>(tasks_.size());
    certify(result);
    if (!result.best && !result.interrupted) {
      explain_infeasible(result.infeasible);
    }
    return result;
  }

  void certify(SearchResult& result) const {
    Certificate& certificate = result.certificate;
    certificate.mapspace_size = space_.size();
    const double value =
        result.cost ? objective_value(options_.objective, *result.cost) : exact::kInfinity;
    if (!result.interrupted) {
      certificate.status = Proof::kOptimal;
      certificate.lower_bound = value;
      return;
    }
    double bound = value;
    for (const Task& task : tasks_) {
      // A task that was never bounded has an infinite bound here: nothing is known of it.
      bound = std::min(bound, task.bound.first < exact::kInfinity ? task.bound.first : 0.0);
    }
    certificate.status = bound > 0 ? Proof::kBounded : Proof::kNone;
    certificate.lower_bound = bound;
    certificate.gap = bound > 0 && result.cost ? value / bound - 1 : 0;
  }

  void explain_infeasible(InfeasibleReport& report) const {
    for (const UnrollingGroup& group : space_.group_by_factors()) {
      const Evaluation evaluation = evaluate(space_.problem(), exact::leanest(space_, group));
      if (const auto* reason = std::get_if<Infeasible>(&evaluation)) {
        add(report, space_.problem(), *reason);
      }
    }
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  std::vector<Task> tasks_;
  std::map<std::vector<FanoutId>, std::unique_ptr<exact::Skeleton>> skeletons_;
  std::vector<std::unique_ptr<Instance>> instances_;
  Incumbent incumbent_;
  std::int64_t states_ = 0;
  std::int64_t labels_ = 0;
  std::int64_t searched_ = 0;
};

}  // namespace

SearchResult search_exact(const Mapspace& space, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  SearchResult result = ExactSearch(space, options).run();
  result.statistics.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace mapsim
