// SPDX-License-Identifier: Apache-2.0
#include "mapper/why.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "arch/capacities.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/membership.hpp"
#include "mapper/shared_budget.hpp"

namespace mapsim {

std::vector<EnergyShare> compare_energy(const Problem& problem, const Cost& given,
                                        const Cost& best) {
  std::vector<EnergyShare> shares;
  const auto add = [&](std::optional<LevelId> level, std::optional<FanoutId> fanout,
                       std::optional<TensorId> tensor, const char* action, Picojoules a,
                       Picojoules b) {
    if (a != b) {
      shares.push_back({level, fanout, tensor, action, (a - b).count()});
    }
  };
  for (const LevelId l : problem.arch().levels.ids()) {
    for (const TensorId t : problem.workload().tensors.ids()) {
      const TensorEnergy& a = given.energy.levels[l][t];
      const TensorEnergy& b = best.energy.levels[l][t];
      add(l, std::nullopt, t, "read", a.read, b.read);
      add(l, std::nullopt, t, "write", a.write, b.write);
      add(l, std::nullopt, t, "update", a.update, b.update);
    }
  }
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    add(std::nullopt, f, std::nullopt, "additions", given.energy.fanouts[f],
        best.energy.fanouts[f]);
    for (const TensorId t : problem.workload().tensors.ids()) {
      add(std::nullopt, f, t, "hops", given.energy.hops[f][t], best.energy.hops[f][t]);
    }
  }
  add(std::nullopt, std::nullopt, std::nullopt, "compute", given.energy.compute,
      best.energy.compute);
  add(std::nullopt, std::nullopt, std::nullopt, "leakage", given.energy.leakage,
      best.energy.leakage);
  std::stable_sort(shares.begin(), shares.end(), [](const EnergyShare& a, const EnergyShare& b) {
    return a.difference_pj > b.difference_pj;
  });
  return shares;
}

namespace {

using Change = std::pair<std::string, std::function<void(Storage&)>>;

void twice(std::optional<BitsPerCycle>& bandwidth) {
  bandwidth = BitsPerCycle{2 * bandwidth->count()};
}

// All finite resources of a level, and how to double each.
std::vector<Change> changes_of(const Arch& arch, LevelId l) {
  const Storage& storage = arch.levels[l];
  std::vector<Change> changes;
  for (const FiniteCapacity& capacity : capacities_of(arch)) {
    if (capacity.level == l) {
      const std::optional<Role> role = capacity.role;
      const std::string of_role = role ? std::string{" for "} + to_string(*role) : "";
      changes.emplace_back(storage.name + " capacity" + of_role, [role](Storage& level) {
        Bits& size = size_of(level, role);
        size = Bits{2 * size.count()};
      });
    }
  }
  if (storage.bandwidth.read) {
    changes.emplace_back(storage.name + " read bandwidth",
                         [](Storage& level) { twice(level.bandwidth.read); });
  }
  if (storage.bandwidth.write) {
    changes.emplace_back(storage.name + " write bandwidth",
                         [](Storage& level) { twice(level.bandwidth.write); });
  }
  if (storage.bandwidth.shared) {
    changes.emplace_back(storage.name + " bandwidth",
                         [](Storage& level) { twice(level.bandwidth.shared); });
  }
  if (storage.bandwidth.link) {
    changes.emplace_back(storage.name + " link bandwidth",
                         [](Storage& level) { twice(level.bandwidth.link); });
  }
  return changes;
}

}  // namespace

std::vector<Relief> what_would_help(const Mapspace& space, const SearchOptions& options,
                                    const Cost& now) {
  const Problem& problem = space.problem();
  const double optimum = objective_value(options.objective, now);
  const SharedBudget budget{options};
  std::vector<Relief> reliefs;
  for (const LevelId l : problem.arch().levels.ids()) {
    for (const auto& [resource, change] : changes_of(problem.arch(), l)) {
      const bool is_bandwidth = resource.ends_with("bandwidth");
      if (is_bandwidth && !exact::tracked(problem, options.objective).ports) {
        continue;  // the objective does not depend on it
      }
      const SearchOptions rest = budget.rest();
      SearchResult result;
      if (rest.budget.seconds > 0 && (rest.stop == nullptr || !*rest.stop)) {
        Arch arch = problem.arch();
        change(arch.levels[l]);
        const Problem relieved(std::move(arch), problem.workload());
        result = search_exact(Mapspace(relieved, space.constraints()), rest);
      }
      if (result.interrupted || !result.cost) {
        reliefs.push_back({resource, optimum, 0, false});
        continue;
      }
      const double value = objective_value(options.objective, *result.cost);
      reliefs.push_back({resource, value, 1 - value / optimum});
    }
  }
  std::stable_sort(reliefs.begin(), reliefs.end(), [](const Relief& a, const Relief& b) {
    return a.known != b.known ? a.known : a.gain > b.gain;
  });
  return reliefs;
}

GapReport find_gap(const Mapspace& space, const SearchOptions& options, const Mapping& mapping,
                   const Cost& given) {
  const SharedBudget budget{options};
  const SearchResult result = search_exact(space, options);
  GapReport gap{options.objective, result.cost, {}};
  gap.outside = why_outside_of(space, mapping);
  if (gap.outside.empty() && !is_within_limits(options.objective, given)) {
    gap.outside = "it is beyond a limit of the objective";
  }
  if (result.certificate.status == Proof::kBounded) {
    gap.lower_bound = result.certificate.lower_bound;
  } else if (gap.best) {
    gap.reliefs = what_would_help(space, budget.rest(), *gap.best);
  }
  return gap;
}

}  // namespace mapsim
