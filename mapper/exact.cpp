// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/crossing.hpp"
#include "mapper/exact/infeasible.hpp"
#include "mapper/exact/labels.hpp"
#include "mapper/exact/rebuild.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

using exact::Key;

using exact::Instance;

// Energy that no mapping can do without [pJ]: the operations, every element once through the
// outermost level, and the compute units' accesses to whichever level could serve them most
// cheaply.
double energy_floor(const Mapspace& space) {
  const Problem& problem = space.problem();
  const Arch& arch = problem.arch();
  const auto macs = static_cast<double>(problem.workload().macs());
  const PerDim<std::int64_t> whole = bounds_of(problem.workload());
  const auto access = [&](LevelId l, bool output) {
    const StorageEnergy& energy = arch.levels[l].energy;
    return (output ? energy.update : energy.read).count();
  };
  double floor = macs * arch.compute.energy.count();
  for (const TensorId t : problem.workload().tensors.ids()) {
    const Tensor& tensor = problem.workload().tensors[t];
    const bool output = t == problem.workload().output();
    const auto bits = static_cast<double>(tensor.bits.count());
    const double once = static_cast<double>(footprint(tensor, whole)) * bits;
    double least = exact::kInfinity;
    for (std::size_t i = arch.levels.size(); i-- > 0;) {
      const auto l = static_cast<LevelId>(i);
      double served = arch.compute.register_reuse.contains(tensor.role) ? 0 : macs * bits;
      for (const FanoutId f : arch.fanouts.ids()) {
        if (arch.is_above(l, f) && problem.is_merged(f, t)) {
          served /= static_cast<double>(arch.fanouts[f].x * arch.fanouts[f].y);
        }
      }
      if (space.keep_rule(l, t) != KeepRule::kBypass) {
        const double outermost = once * access(LevelId{0}, output);
        least = std::min(least, i == 0 ? std::max(once, served) * access(l, output)
                                       : outermost + served * access(l, output));
      }
      if (space.keep_rule(l, t) == KeepRule::kKeep) {
        break;  // nothing further out can be the last
      }
    }
    floor += least;
  }
  return floor;
}

// The best so far, shared by threads. Which of equals it is does not depend on who comes first.
class Incumbent {
 public:
  Incumbent(const Problem& problem, const Objective& objective)
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
  const Objective& objective_;
  std::mutex mutex_;
  Key limit_;
  std::size_t task_ = 0;
};

class ExactSearch {
 public:
  ExactSearch(const Mapspace& space, const SearchOptions& options)
      : space_{space},
        options_{options},
        energy_floor_{energy_floor(space)},
        incumbent_{space.problem(), options.objective} {
    for (const UnrollingGroup& group : space.group_by_factors()) {
      const exact::Unrolled unrolled(space.problem(), group);
      auto& skeleton = skeletons_[unrolled.used];
      if (!skeleton) {
        skeleton = std::make_unique<exact::Skeleton>(space, unrolled.used);
      }
    }
    for (std::size_t g = 0; g < space.group_by_factors().size(); ++g) {
      bounds_.push_back(floor(g));
      arguments_.push_back(Argument::kFloor);
    }
  }

  SearchResult run() {
    const std::vector<std::size_t> order = most_parallel_first();
    // Batches of a fixed size share the limit that stands when they begin, so that no result or
    // statistic depends on which thread is first.
    std::size_t batch = kFirstBatch;
    for (std::size_t first = 0; first < order.size() && !stopped(); first += batch) {
      batch = std::min(first == 0 ? kFirstBatch : 2 * batch, kLargestBatch);
      const std::size_t last = std::min(first + batch, order.size());
      search_batch(std::span(order).subspan(first, last - first));
    }
    return result();
  }

 private:
  static constexpr std::size_t kFirstBatch = 4;
  static constexpr std::size_t kLargestBatch = 64;

  // Unrollings that leave few steps first: they are good, and make short work of the rest.
  std::vector<std::size_t> most_parallel_first() const {
    const auto& groups = space_.group_by_factors();
    std::vector<double> steps(groups.size(), 1.0);
    std::vector<std::size_t> order(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      order[g] = g;
      for (const std::int64_t bound : temporal_bounds(space_.problem().workload(), groups[g])) {
        steps[g] *= static_cast<double>(bound);
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return steps[a] < steps[b]; });
    return order;
  }

  std::unique_ptr<Instance> build(std::size_t task) const {
    exact::Unrolled unrolled(space_.problem(), space_.group_by_factors()[task]);
    const exact::Skeleton& skeleton = *skeletons_.at(unrolled.used);
    return std::make_unique<Instance>(skeleton, std::move(unrolled), options_.objective);
  }
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  // What the objective cannot go below whatever the tiles.
  Key floor(std::size_t group) const {
    double steps = static_cast<double>(space_.problem().arch().compute.issue_interval);
    for (const std::int64_t bound :
         temporal_bounds(space_.problem().workload(), space_.group_by_factors()[group])) {
      steps *= static_cast<double>(bound);
    }
    const exact::Skeleton& skeleton = *skeletons_.begin()->second;
    std::vector<double> components(2 + skeleton.ports().size(), 0.0);
    components[0] = energy_floor_;
    return exact::Valuation(skeleton, options_.objective, steps).key(components.data());
  }

  void search_batch(std::span<const std::size_t> batch) {
    const Key limit = incumbent_.limit();
    const auto count = static_cast<std::int64_t>(batch.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads)
    for (std::int64_t i = 0; i < count; ++i) {
      if (!stopped()) {
        search(batch[static_cast<std::size_t>(i)], limit);
      }
    }
  }

  void search(std::size_t group, Key limit) {
    if (exact::beyond(bounds_[group], limit)) {
      return;
    }
    const auto instance = build(group);
    bounds_[group] = instance->root();
    arguments_[group] = Argument::kRelaxation;
#pragma omp atomic
    states_ += static_cast<std::int64_t>(instance->bound.nodes().size());
    if (!(bounds_[group].first < exact::kInfinity) || exact::beyond(bounds_[group], limit)) {
      return;
    }
    const exact::LabelResult found = exact::search_labels(*instance, limit, options_.stop);
    if (!found.steps.empty()) {
      incumbent_.offer(exact::rebuild(instance->skeleton, instance->unrolled,
                                      space_.group_by_factors()[group].first, found.steps),
                       found.key, group);
    }
    bounds_[group] = found.stopped ? found.bound : std::max(bounds_[group], found.bound);
    arguments_[group] = Argument::kSearch;
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
    result.statistics.unrollings_total = static_cast<std::int64_t>(bounds_.size());
    certify(result);
    for (std::size_t g = 0; g < bounds_.size(); ++g) {
      result.groups.push_back({bounds_[g].first, arguments_[g]});
    }
    if (!result.best && !result.interrupted) {
      result.infeasible = exact::explain_infeasible(space_);
    }
    return result;
  }

  void certify(SearchResult& result) const {
    Certificate& certificate = result.certificate;
    certificate.mapspace_size = space_.size();
    const double value =
        result.cost ? objective_value(options_.objective, *result.cost) : exact::kInfinity;
    if (!result.interrupted) {
      certificate.status = result.cost ? Proof::kOptimal : Proof::kInfeasible;
      certificate.lower_bound = value;
      return;
    }
    double bound = value;
    for (const Key& key : bounds_) {
      bound = std::min(bound, key.first);
    }
    certificate.status = bound > 0 ? Proof::kBounded : Proof::kNone;
    certificate.lower_bound = bound;
    certificate.gap = bound > 0 && result.cost ? value / bound - 1 : 0;
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  double energy_floor_;
  std::vector<Key> bounds_;          // per group: nothing of it is better
  std::vector<Argument> arguments_;  // per group: why
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
