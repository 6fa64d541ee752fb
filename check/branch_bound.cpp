// SPDX-License-Identifier: Apache-2.0
#include "check/branch_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "check/geometry.hpp"
#include "check/tensor_paths.hpp"
#include "check/unrolling_bound.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// A branch entered with boxes of one size, and how often the branch is entered so.
struct OneSize {
  double share = 1;
  Problem problem;
};

// All nests of one branch, unrolling by unrolling.
class BranchSearch {
 public:
  BranchSearch(const Arch& arch, const Workload& einsum, const Branch& branch,
               const ChainObjective& objective, Stop stop)
      : objective_{objective},
        problem_{arch, with_bounds(einsum, branch.bounds)},
        entry_{branch.entry},
        rules_{free_rules(problem_)},
        stop_{stop} {
    goal_.function = objective.function();
    forbid_unrolling();
    for (const BranchEntry::EqualEntries& entries : entry_.by_sizes(branch.bounds)) {
      sizes_.push_back({entries.share, {arch, with_bounds(einsum, entries.sizes)}});
    }
  }

  double run(double enough) {
    least_ = enough;
    std::vector<std::pair<double, Unrolling>> open;
    visit_open(
        problem_, rules_, [&](const ChoiceRanges& ranges) { return bound_of(ranges) >= least_; },
        [&](const Unrolling& unrolling) {
          const double bound = bound_of(ranges_of(problem_.workload(), unrolling.factors));
          if (bound < least_) {
            open.emplace_back(bound, unrolling);
          }
        });
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [bound, unrolling] : open) {
      if (bound < least_ && !stop_.is_set()) {
        search(unrolling);
      }
    }
    return least_;
  }
  // What all unrollings need, by the closed form.
  double glance(const std::optional<ChoiceRanges>& all) { return all ? bound_of(*all) : kInfinity; }
  std::optional<ChoiceRanges> ranges() const { return ranges_of_all(problem_, rules_); }
  std::int64_t labels() const { return labels_; }

 private:
  // Dims whose boxes differ in size are not unrolled.
  void forbid_unrolling() {
    DimSet fixed;
    for (const DimId d : problem_.workload().dims.ids()) {
      if (!entry_.varies(d)) {
        fixed.insert(d);
      }
    }
    for (auto& axes : rules_.unroll) {
      for (AxisRules& axis : axes) {
        axis.dims = entry_.varies() ? std::optional{fixed} : std::nullopt;
      }
    }
  }

  // Of the energy, and of the time of the compute units that are in use. What each tensor needs if
  // it had all capacities to itself is known sooner, and often enough.
  double bound_of(const ChoiceRanges& ranges) const {
    const double sooner = bound_with(ranges, false);
    return sooner < least_ && objective_.function().uses_energy() ? bound_with(ranges, true)
                                                                  : sooner;
  }
  double bound_with(const ChoiceRanges& ranges, bool together) const {
    const BranchEntry::Run& run = entry_.run;
    const double entries = run.entries > 0 ? run.entries : 1;
    const PerDim<std::int64_t> bounds = bounds_of(problem_.workload());
    double cycles = entries * entry_.operations(bounds) *
                    static_cast<double>(problem_.arch().compute.issue_interval);
    for (const ChoiceRange& range : ranges) {
      cycles /= range.most_instances;
    }
    std::vector<double> least = run.charged;
    least.resize(std::max<std::size_t>(1, least.size()));
    least[0] +=
        objective_.function().uses_energy() ? entries * energy_bound_of(ranges, together) : 0;
    return objective_.value(least, objective_.is_timed() ? cycles : 0);
  }
  // The mean of what the sizes need at least: a nest of the branch is one of each of them.
  double energy_bound_of(const ChoiceRanges& ranges, bool together) const {
    double sum = 0;
    for (const OneSize& size : sizes_) {
      std::vector<TensorId> all;
      double paths = 0;
      for (const TensorId t : size.problem.workload().tensors.ids()) {
        paths += least_paths(size.problem, rules_, ranges, {t}, entry_);
        all.push_back(t);
      }
      if (together) {
        paths = std::max(paths, least_paths(size.problem, rules_, ranges, all, entry_));
      }
      const double macs =
          size.problem.mac_energy().count() * static_cast<double>(size.problem.macs());
      sum += size.share * (macs + paths);
    }
    return sum;
  }

  void search(const Unrolling& unrolling) {
    const std::vector<BlockedUnrolling> parts = list_blocked_unrollings(problem_, unrolling);
    const std::vector<FanoutId>& used = parts.front().used;
    std::unique_ptr<Graph>& graph = graphs_[used];
    if (!graph) {
      graph = std::make_unique<Graph>(problem_, rules_, used, std::nullopt, entry_);
    }
    bool is_better = true;
    while (is_better && !stop_.is_set()) {
      const Target target{{{{least_, 0}}, false, 0}, false, 0};
      const BoundedUnrolling found =
          bound_unrolling(*graph, goal_, {}, unrolling, target, {.stop = stop_});
      labels_ += found.labels;
      least_ = found.better ? std::min(least_, found.better->first) : least_;
      is_better = found.better && parts.size() > 1;  // the parts behind it are left
    }
  }

  const ChainObjective& objective_;
  Problem problem_;
  const BranchEntry& entry_;
  Rules rules_;
  Goal goal_;
  Stop stop_;
  std::vector<OneSize> sizes_;
  std::map<std::vector<FanoutId>, std::unique_ptr<Graph>> graphs_;
  double least_ = kInfinity;
  std::int64_t labels_ = 0;
};

}  // namespace

double elements_of(const Workload& einsum, TensorId t, const PerDim<std::int64_t>& box) {
  double product = 1;
  for (const Rank& rank : einsum.tensors[t].ranks) {
    product *= static_cast<double>(count_coordinates(rank, box));
  }
  return product;
}

bool is_above_arrays(const Arch& arch, LevelId level) {
  return std::all_of(arch.levels_above.begin(), arch.levels_above.end(),
                     [&](std::size_t above) { return index_of(level) < above; });
}

Rules free_rules(const Problem& problem) {
  const std::size_t fanouts = problem.arch().fanouts.size();
  Rules rules;
  rules.spatial.resize(fanouts);
  rules.unroll = PerFanout<std::array<AxisRules, 2>>(fanouts);
  rules.min_utilization = PerFanout<double>(fanouts, 0.0);
  rules.keep = PerLevel<TensorSet>(problem.arch().levels.size());
  rules.bypass = rules.keep;
  rules.tiles.resize(problem.workload().dims.size());
  return rules;
}

BranchBounds::BranchBounds(const Arch& arch, const EinsumChain& chain,
                           const ChainObjective& objective, Stop stop)
    : arch_{arch},
      chain_{chain},
      objective_{objective},
      stop_{stop},
      capacities_{capacities_of(arch)} {
  for (const Workload& einsum : chain.einsums) {
    problems_.emplace_back(arch, einsum);
  }
}

double BranchBounds::of_run(const Branch& branch, double entries, double of_entry,
                            const std::vector<double>& charged) const {
  const double apart = objective_.of_energy(charged) + entries * of_entry;
  if (!objective_.is_timed() || !(apart < kInfinity)) {
    return apart;
  }
  const Problem& problem = problems_[branch.einsum];
  const double operations = entries * branch.operations();
  std::vector<double> least = charged;
  least.resize(std::max<std::size_t>(1, least.size()));
  least[0] += problem.mac_energy().count() * operations;
  return objective_.of_run(
      std::max(apart, objective_.value(least, objective_.least_cycles(problem, operations))));
}

double BranchBounds::known(const Branch& branch, const TakenBits& taken) const {
  double most = 0;
  if (const auto equal = known_.find(key_of(branch)); equal != known_.end()) {
    for (const Known& one : equal->second) {
      most = takes_no_less(taken, one.taken) ? std::max(most, one.value) : most;
    }
  }
  if (const BranchEntry::Run& run = branch.entry.run; run.entries > 0) {
    Branch mean = branch;
    mean.entry.run = {};
    return std::max(most, of_run(branch, run.entries, known(mean, taken), run.charged));
  }
  const auto larger = families_.find(family_of(branch));
  if (branch.entry.varies() || larger == families_.end()) {
    return most;
  }
  const double operations = branch.operations();
  for (const Known& one : larger->second) {
    if (one.value * operations > most && takes_no_less(taken, one.taken) &&
        divides(branch.bounds, one.bounds)) {
      most = one.value * operations;
    }
  }
  return most;
}

bool BranchBounds::is_decided(const Branch& branch, const TakenBits& taken) const {
  const auto equal = known_.find(key_of(branch));
  return equal != known_.end() &&
         std::any_of(equal->second.begin(), equal->second.end(),
                     [&](const Known& one) { return one.taken == taken && one.is_optimum; });
}

bool BranchBounds::is_seen(const Branch& branch, const TakenBits& taken) const {
  const auto equal = known_.find(key_of(branch));
  return equal != known_.end() && std::any_of(equal->second.begin(), equal->second.end(),
                                              [&](const Known& one) { return one.taken == taken; });
}

TakenBits BranchBounds::rounded(const TakenBits& taken) const {
  constexpr double kSteps = 64;
  TakenBits down = taken;
  for (std::size_t c = 0; c < down.size(); ++c) {
    const auto bits = static_cast<double>(capacities_[c].bits.count());
    const double step = std::max(1.0, std::floor(bits / kSteps));
    down[c] = std::floor(taken[c] / step) * step;
  }
  return down;
}

double BranchBounds::least(const Branch& branch, const TakenBits& taken, double enough) {
  const double before = known(branch, taken);
  if (before >= enough || is_decided(branch, taken)) {
    return before;
  }
  ++searches_;
  const Workload& einsum = chain_.einsums[branch.einsum];
  BranchSearch search{with_less(arch_, taken), einsum, branch, objective_, stop_};
  const double found = std::max(before, search.run(enough));
  labels_ += search.labels();
  if (stop_.is_set()) {
    return before;
  }
  learn(branch, taken, found, found < enough);
  return found;
}

void BranchBounds::glance(const Branch& branch, const TakenBits& taken) {
  const Workload& einsum = chain_.einsums[branch.einsum];
  BranchSearch search{with_less(arch_, taken), einsum, branch, objective_, stop_};
  const AllRanges& all = ranges_of(branch, [&] { return search.ranges(); });
  learn(branch, taken, search.glance(all), false);
}

const BranchBounds::AllRanges& BranchBounds::ranges_of(const Branch& branch,
                                                       const std::function<AllRanges()>& find) {
  BranchKey box{static_cast<std::int64_t>(branch.einsum)};
  for (const DimId d : branch.bounds.ids()) {
    box.push_back(branch.bounds[d]);
    box.push_back(branch.entry.varies(d) ? 1 : 0);
  }
  const auto known = ranges_.find(box);
  return known != ranges_.end() ? known->second : ranges_.emplace(box, find()).first->second;
}

void BranchBounds::learn(const Branch& branch, const TakenBits& taken, double value,
                         bool is_optimum) {
  known_[key_of(branch)].push_back({branch.bounds, taken, value, is_optimum});
  const BranchEntry::Run& run = branch.entry.run;
  const bool is_alone = run.entries == 1 && run.charged.empty();
  if (!branch.entry.varies() && (is_alone || !(run.entries > 0))) {
    const double of_entry = value - (is_alone ? objective_.rounding() : 0);
    families_[family_of(branch)].push_back(
        {branch.bounds, taken, of_entry / branch.operations(), false});
  }
}

}  // namespace mapsim::check
