// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/padded.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "core/arithmetic.hpp"
#include "core/factor.hpp"
#include "mapper/branch/class_search.hpp"
#include "mapper/label_search/imperfect_search.hpp"
#include "mapper/mapspace/membership.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kPadding = 12;           // a bound grows by at most 1 / kPadding
constexpr std::int64_t kMostTried = 128;        // numbers that padding chooses from
constexpr std::size_t kFewDivisors = 6;         // a bound with fewer is padded
constexpr std::int64_t kMostEvaluations = 150;  // of the descent

// The number with the most divisors among n and the numbers slightly above it; of equal ones the
// least.
std::int64_t rich_in_divisors(std::int64_t n) {
  std::int64_t best = n;
  std::size_t most = divisors_of(n).size();
  for (std::int64_t m = n + 1; m <= n + std::min(n / kPadding, kMostTried); ++m) {
    if (const std::size_t count = divisors_of(m).size(); count > most) {
      most = count;
      best = m;
    }
  }
  return best;
}

Workload padded(const Workload& workload, const UnrollingClass& unrolling_class) {
  Workload wider = workload;
  for (const DimId d : workload.dims.ids()) {
    std::int64_t instances = 1;
    for (const PerDim<std::int64_t>& factors : unrolling_class.factors) {
      instances *= factors[d];
    }
    const std::int64_t rest = ceil_div(workload.dims[d].bound, instances);
    const bool is_poor = instances > 1 || divisors_of(rest).size() < kFewDivisors;
    wider.dims[d].bound = instances * (is_poor ? rich_in_divisors(rest) : rest);
  }
  return wider;
}

// Bounds that arrays of 2^n divide: multiples of the largest power of two that pads a bound by at
// most 1 / kPadding.
Workload in_powers_of_two(const Workload& workload) {
  Workload wider = workload;
  for (const DimId d : workload.dims.ids()) {
    const std::int64_t bound = workload.dims[d].bound;
    const auto step = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(bound / kPadding, 1))));
    wider.dims[d].bound = ceil_div(bound, step) * step;
  }
  return wider;
}

// The instances of each parallel loop, by node; 0 for other nodes.
std::vector<std::int64_t> instances_of(const Workload& workload, const Mapping& mapping) {
  PerDim<std::int64_t> extents = bounds_of(workload);
  std::vector<std::int64_t> instances(mapping.nodes.size(), 0);
  for (std::size_t i = 0; i < mapping.nodes.size(); ++i) {
    if (const auto* loop = std::get_if<Temporal>(&mapping.nodes[i])) {
      extents[loop->dim] = loop->extent;
    } else if (const auto* parallel = std::get_if<Parallel>(&mapping.nodes[i])) {
      instances[i] = ceil_div(extents[parallel->dim], parallel->extent);
      extents[parallel->dim] = parallel->extent;
    }
  }
  return instances;
}

// The mapping with every extent lowered to one that the space has. A parallel loop keeps its
// instances, or as many of them as a block of the space gives work to.
Mapping lower(const Mapspace& space, const Mapping& mapping,
              const std::vector<std::int64_t>& instances) {
  const PerDim<ExtentDomain>& domains = space.domains();
  PerDim<std::int64_t> extents = bounds_of(space.problem().workload());
  Mapping lowered;
  for (std::size_t i = 0; i < mapping.nodes.size(); ++i) {
    if (const auto* loop = std::get_if<Temporal>(&mapping.nodes[i])) {
      const ExtentDomain& domain = domains[loop->dim];
      std::int64_t& extent = extents[loop->dim];
      extent =
          *(std::upper_bound(domain.begin(), domain.end(), std::min(loop->extent, extent)) - 1);
      lowered.nodes.emplace_back(Temporal{loop->dim, extent});
    } else if (const auto* parallel = std::get_if<Parallel>(&mapping.nodes[i])) {
      std::int64_t& extent = extents[parallel->dim];
      std::optional<std::int64_t> block;
      for (std::int64_t n = std::min(instances[i], extent); n > 1 && !block; --n) {
        block = block_of(domains[parallel->dim], extent, n);
      }
      if (block) {
        extent = *block;
        lowered.nodes.emplace_back(
            Parallel{parallel->dim, extent, parallel->fanout, parallel->axis});
      }
    } else {
      lowered.nodes.push_back(mapping.nodes[i]);
    }
  }
  for (const DimId d : extents.ids()) {
    if (extents[d] > 1) {
      lowered.nodes.emplace_back(Temporal{d, 1});
    }
  }
  return canonical(space.problem().workload(), lowered);
}

// The best mapping among those that were evaluated.
class Candidates {
 public:
  Candidates(const Mapspace& space, const Objective& objective)
      : space_{space}, objective_{objective} {}

  std::int64_t evaluations() const { return evaluations_; }
  std::optional<FoundMapping>& best() { return best_; }

  // Evaluates a mapping, and keeps it if it is the best so far; then returns true.
  bool offer(const Mapping& mapping) {
    const Problem& problem = space_.problem();
    if (!check_structure(problem.arch(), problem.workload(), mapping).empty()) {
      return false;
    }
    ++evaluations_;
    const Evaluation evaluation = evaluate(problem, mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost == nullptr || !is_within_limits(objective_, *cost)) {
      return false;
    }
    const exact::ObjectiveKey key = imperfect::key_of_cost(objective_, *cost);
    if ((best_ && !(key < best_->key)) ||
        !first_breach(space_, canonical(space_.problem().workload(), mapping)).empty()) {
      return false;
    }
    best_ = FoundMapping{mapping, *cost, key};
    return true;
  }

 private:
  const Mapspace& space_;
  const Objective& objective_;
  std::int64_t evaluations_ = 0;
  std::optional<FoundMapping> best_;
};

// Moves the extent of one temporal loop of the best mapping along the extents of the space. Returns
// true if that improved it.
bool improve_once(const Mapspace& space, Candidates& candidates, std::int64_t most) {
  const Mapping from = candidates.best()->mapping;
  const std::vector<std::int64_t> instances = instances_of(space.problem().workload(), from);
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const auto* loop = std::get_if<Temporal>(&from.nodes[i]);
    if (loop == nullptr) {
      continue;
    }
    const ExtentDomain& domain = space.domains()[loop->dim];
    const auto at = static_cast<std::int64_t>(extent_of(domain, loop->extent));
    for (const std::int64_t step : {1, -1, 2, -2, 4, -4, 8, -8}) {
      if (candidates.evaluations() >= most) {
        return false;
      }
      if (at + step < 0 || at + step >= std::ssize(domain)) {
        continue;
      }
      Mapping moved = from;
      std::get<Temporal>(moved.nodes[i]).extent = domain[static_cast<std::size_t>(at + step)];
      if (candidates.offer(lower(space, moved, instances))) {
        return true;
      }
    }
  }
  return false;
}

// The limits grow as the work does.
Objective with_wider_limits(Objective objective, double growth) {
  if (objective.max_energy) {
    objective.max_energy = *objective.max_energy * growth;
  }
  if (objective.max_latency) {
    objective.max_latency = Cycles{static_cast<std::int64_t>(
        std::ceil(static_cast<double>(objective.max_latency->count()) * growth))};
  }
  return objective;
}

// Of a problem that may be larger than that of `space`; `constraints` are its own. The mapping that
// is best within the wider limits may be beyond the limits when it is lowered; then the one that
// has least of what is limited is tried.
PaddedSearch search_wider(const Mapspace& space, const Workload& wider, Constraints constraints,
                          SearchOptions options, const Deadline& deadline) {
  const Objective wanted = options.objective;
  const Problem problem{space.problem().arch(), wider};
  constraints.factors = {};
  const Mapspace perfect{problem, constraints};
  options.progress = nullptr;
  std::vector<Objective> objectives{with_wider_limits(
      wanted,
      static_cast<double>(wider.macs()) / static_cast<double>(space.problem().workload().macs()))};
  if (wanted.max_energy || wanted.max_latency) {
    objectives.emplace_back(wanted.max_latency ? Objective::kLatency : Objective::kEnergy);
  }
  PaddedSearch result;
  Candidates candidates(space, wanted);
  for (const Objective& objective : objectives) {
    options.objective = objective;
    const SearchResult found = search_classes(perfect, options, deadline);
    result.labels += found.statistics.labels;
    result.evaluations += found.statistics.evaluations;
    if (found.best) {
      candidates.offer(lower(space, *found.best, instances_of(wider, *found.best)));
    }
    if (candidates.best()) {
      break;
    }
  }
  while (candidates.best() && !deadline.over() &&
         improve_once(space, candidates, kMostEvaluations)) {
  }
  result.evaluations += candidates.evaluations();
  result.best = std::move(candidates.best());
  return result;
}

}  // namespace

PaddedSearch search_padded(const Mapspace& space, const UnrollingClass& unrolling_class,
                           SearchOptions options, std::int64_t labels, const Deadline& deadline) {
  Constraints constraints = space.constraints();
  constraints.spatial = with_idle_fanouts(unrolling_class.first, space.problem().arch());
  options.threads = 1;
  options.budget.labels = labels;
  return search_wider(space, padded(space.problem().workload(), unrolling_class),
                      std::move(constraints), std::move(options), deadline);
}

PaddedSearch search_padded(const Mapspace& space, const SearchOptions& options,
                           const Deadline& deadline) {
  const Workload& workload = space.problem().workload();
  PaddedSearch best;
  for (const Workload& wider : {padded(workload, {}), in_powers_of_two(workload)}) {
    PaddedSearch found = search_wider(space, wider, space.constraints(), options, deadline);
    best.labels += found.labels;
    best.evaluations += found.evaluations;
    if (found.best && (!best.best || found.best->key < best.best->key)) {
      best.best = std::move(found.best);
    }
  }
  return best;
}

}  // namespace mapsim
