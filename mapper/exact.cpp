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

// Everything that the search of one group of unrollings needs.
struct Instance {
  Instance(const exact::Skeleton& skeleton_in, exact::Unrolled unrolled_in, Objective objective)
      : skeleton{skeleton_in},
        unrolled{std::move(unrolled_in)},
        costs(skeleton, unrolled, objective != Objective::kEnergy),
        bound(skeleton, unrolled, costs),
        valuation(skeleton.problem(), skeleton.ports(), objective, compute_cycles()) {}

  double compute_cycles() const {
    double steps = 1;
    for (const DimId d : skeleton.problem().workload().dims.ids()) {
      steps *= static_cast<double>(unrolled.bound(d));
    }
    return steps * static_cast<double>(skeleton.problem().arch().compute.issue_interval);
  }
  Key root() const {
    return root_key(skeleton, unrolled, bound, valuation, costs.components());
  }

  const exact::Skeleton& skeleton;
  exact::Unrolled unrolled;
  exact::Costs costs;
  exact::Bound bound;
  exact::Valuation valuation;
};

// A group of unrollings on its way: nothing of it is better than `bound`.
struct Task {
  Key bound{0, 0};
  std::unique_ptr<Instance> instance;
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
        tasks_(space.group_by_factors().size()),
        incumbent_{space.problem(), options.objective} {
    for (const UnrollingGroup& group : space.group_by_factors()) {
      const exact::Unrolled unrolled(space.problem(), group.factors);
      auto& skeleton = skeletons_[unrolled.used];
      if (!skeleton) {
        skeleton = std::make_unique<exact::Skeleton>(space, unrolled.used);
      }
    }
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

  std::unique_ptr<Instance> build(std::size_t task) const {
    exact::Unrolled unrolled(space_.problem(), space_.group_by_factors()[task].factors);
    const exact::Skeleton& skeleton = *skeletons_.at(unrolled.used);
    return std::make_unique<Instance>(skeleton, std::move(unrolled), options_.objective);
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
      auto instance = build(static_cast<std::size_t>(i));
      task.bound = instance->root();
#pragma omp atomic
      states_ += static_cast<std::int64_t>(instance->bound.nodes().size());
      if (tasks_.size() <= kKept) {
        task.instance = std::move(instance);
      }
    }
  }

  void search_all(const std::vector<std::size_t>& order) {
    const auto count = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t index = order[static_cast<std::size_t>(i)];
      const Task& task = tasks_[index];
      if (stopped() || !(task.bound.first < exact::kInfinity) ||
          task.bound.first > incumbent_.limit().first * (1 + 1e-11)) {
        continue;
      }
      search(index);
    }
  }

  void search(std::size_t index) {
    Task& task = tasks_[index];
    const auto instance = task.instance ? std::move(task.instance) : build(index);
    const exact::LabelResult found = exact::search_labels(
        instance->skeleton, instance->unrolled, instance->costs, instance->bound,
        instance->valuation, [&] { return incumbent_.limit(); }, options_.stop);
    if (!found.steps.empty()) {
      incumbent_.offer(exact::rebuild(instance->skeleton, instance->unrolled,
                                      space_.group_by_factors()[index].first, found.steps),
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
      bound = std::min(bound, task.bound.first);
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
