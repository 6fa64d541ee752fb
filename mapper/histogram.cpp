// SPDX-License-Identifier: Apache-2.0
#include "mapper/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "core/threads.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/mapspace/walk.hpp"

namespace mapsim {

namespace {

// Walks over all unrollings, at least: enough to give threads work and to forget the starts. Each
// is long enough that the discarded first steps are few.
constexpr std::int64_t kWalks = 32;
constexpr std::int64_t kBurnIn = 4'000;             // discarded
constexpr std::int64_t kMostStepsPerMapping = 200;  // of those wanted: then a walk gives up

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL ^ (hash >> 29);
}

std::uint64_t hash_of(const Mapping& mapping) {
  std::uint64_t hash = mapping.nodes.size();
  for (const MappingNode& node : mapping.nodes) {
    hash = mix(hash, node.index());
    if (const auto* keep = std::get_if<Keep>(&node)) {
      hash = mix(hash, index_of(keep->level) << 32 | keep->tensors.bits());
    } else if (const auto* temporal = std::get_if<Temporal>(&node)) {
      hash =
          mix(hash, index_of(temporal->dim) << 48 | static_cast<std::uint64_t>(temporal->extent));
    } else {
      const auto& parallel = std::get<Parallel>(node);
      hash = mix(hash, index_of(parallel.dim) << 48 | static_cast<std::uint64_t>(parallel.extent));
    }
  }
  return hash;
}

// Can the unrolling reach the rate, apart from transfers?
bool may_reach(const Problem& problem, const UnrollingClass& unrolling_class, double share) {
  double steps = 1;
  for (const std::int64_t bound : temporal_bounds(problem.workload(), unrolling_class)) {
    steps *= static_cast<double>(bound);
  }
  return static_cast<double>(problem.macs()) >=
         share * steps * static_cast<double>(problem.arch().mac_units());
}

// The share of the peak MAC rate that a mapping reaches.
double rate(const Problem& problem, const Cost& cost, bool compute_only) {
  if (!compute_only) {
    return cost.utilization;
  }
  return static_cast<double>(problem.macs()) /
         (static_cast<double>(cost.counts.steps) * static_cast<double>(problem.arch().mac_units()));
}

bool is_stopped(const HistogramOptions& options) {
  return options.stop != nullptr && options.stop->load();
}

struct Recorded {
  std::vector<std::pair<std::uint64_t, HistogramPoint>> points;  // with the hash of the mapping
  std::int64_t proposals = 0;
};

class Walker {
 public:
  Walker(const Problem& problem, double share, bool compute_only)
      : problem_{problem}, evaluator_(problem), share_{share}, compute_only_{compute_only} {}

  Recorded run(Walk walk, std::int64_t wanted, const HistogramOptions& options) {
    Recorded recorded;
    std::unordered_set<std::uint64_t> seen;
    record(walk.mapping());
    const auto accept = [&](const Mapping& mapping) { return record(mapping); };
    const std::int64_t most = kBurnIn + kMostStepsPerMapping * wanted;
    while (std::ssize(recorded.points) < wanted && recorded.proposals < most) {
      walk.step(accept);
      const std::int64_t step = ++recorded.proposals - kBurnIn;
      if (step > 0 && step % options.thinning == 0) {
        const std::uint64_t hash = hash_of(walk.mapping());
        if (seen.insert(hash).second) {
          recorded.points.emplace_back(hash, last_);
        }
      }
      if ((recorded.proposals & 0x3F) == 0 && is_stopped(options)) {
        break;
      }
    }
    return recorded;
  }

 private:
  // Keeps the figures of the mapping, if it is accepted.
  bool record(const Mapping& mapping) {
    if (evaluator_.evaluate(mapping) || rate(problem_, evaluator_.cost(), compute_only_) < share_) {
      return false;
    }
    const Cost& cost = evaluator_.cost();
    last_ = {cost.energy.total.count(), 0};
    for (const TensorCounts& at : cost.counts.levels[LevelId{0}]) {
      last_.outermost_accesses += at.total.reads + at.total.updates + at.total.readbacks;
    }
    return true;
  }

  const Problem& problem_;
  Evaluator evaluator_;
  double share_;
  bool compute_only_;
  HistogramPoint last_;
};

}  // namespace

Histogram make_histogram(const Mapspace& space, const HistogramOptions& options) {
  const Problem& problem = space.problem();
  const double share = 1 - options.within_peak;
  space.unrolling_classes();  // throws if there are too many
  SearchOptions search{Objective::kEnergy, options.threads, 0, 1, options.stop};
  Histogram histogram;
  const SearchResult best = search_exact(space, search);
  if (!best.interrupted) {
    histogram.optimum = best.cost;
  }
  histogram.mapspace_size =
      mapspace_size_unless(space, [&] { return is_stopped(options); }).value_or("");
  histogram.unrollings_total = space.class_count();

  // Walks begin at the fastest mapping of each unrolling that can reach the rate.
  search.objective = Objective::kLatency;
  std::vector<Mapping> starts;
  for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
    if (is_stopped(options)) {
      break;
    }
    if (may_reach(problem, unrolling_class, share)) {
      Constraints alone = space.constraints();
      alone.spatial = with_idle_fanouts(unrolling_class.first, problem.arch());
      const Mapspace one(problem, std::move(alone));
      const SearchResult fastest = search_exact(one, search);
      if (fastest.cost && rate(problem, *fastest.cost, options.compute_only) >= share) {
        starts.push_back(*fastest.best);
      }
    }
  }
  histogram.unrollings = std::ssize(starts);
  histogram.interrupted = is_stopped(options);
  if (starts.empty()) {
    return histogram;
  }
  const std::int64_t walks =
      (kWalks + histogram.unrollings - 1) / histogram.unrollings * histogram.unrollings;
  std::vector<Recorded> recorded(static_cast<std::size_t>(walks));
  for_each_on_threads(recorded.size(), options.threads, [&](std::size_t w) {
    if (is_stopped(options)) {
      return;
    }
    const Mapping& start = starts[w % static_cast<std::size_t>(histogram.unrollings)];
    Rng seeds(options.seed + w * 0x9E3779B97F4A7C15ULL);
    recorded[w] = Walker(problem, share, options.compute_only)
                      .run(Walk(space, start, seeds.next()), options.mappings / walks + 1, options);
  });
  std::unordered_set<std::uint64_t> seen;
  for (const Recorded& walk : recorded) {
    histogram.proposals += walk.proposals;
    for (const auto& [hash, point] : walk.points) {
      if (seen.insert(hash).second) {
        histogram.points.push_back(point);
      }
    }
  }
  histogram.interrupted = is_stopped(options);
  return histogram;
}

HistogramSummary summarise(const Histogram& histogram) {
  HistogramSummary summary;
  if (histogram.points.empty()) {
    return summary;
  }
  const auto by_energy = [](const HistogramPoint& a, const HistogramPoint& b) {
    return a.energy_pj < b.energy_pj;
  };
  const auto [least, most] =
      std::minmax_element(histogram.points.begin(), histogram.points.end(), by_energy);
  summary.least_pj = least->energy_pj;
  summary.most_pj = most->energy_pj;
  double known = summary.least_pj;
  if (histogram.optimum) {
    known = std::min(known, histogram.optimum->energy.total.count());
  }
  summary.least_accesses = least->outermost_accesses;
  for (const HistogramPoint& point : histogram.points) {
    summary.least_accesses = std::min(summary.least_accesses, point.outermost_accesses);
    summary.near_optimum += point.energy_pj <= 1.01 * known ? 1 : 0;
  }
  double tied_least = summary.most_pj;
  double tied_most = summary.least_pj;
  for (const HistogramPoint& point : histogram.points) {
    if (point.outermost_accesses == summary.least_accesses) {
      ++summary.tied;
      tied_least = std::min(tied_least, point.energy_pj);
      tied_most = std::max(tied_most, point.energy_pj);
    }
  }
  summary.tied_spread = tied_most / tied_least;
  return summary;
}

}  // namespace mapsim
