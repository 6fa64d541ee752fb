// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/infeasible.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "arch/capacities.hpp"

namespace mapsim::exact {

namespace {

// What a mapping lacks: the capacities that its tiles exceed.
struct Lack {
  std::vector<CapacityExceeded> exceeded;
  std::int64_t excess = 0;  // bits, summed over capacities
};

bool is_less(const Lack& a, const Lack& b) {
  return std::tuple{a.exceeded.size(), a.excess} < std::tuple{b.exceeded.size(), b.excess};
}

void add_exceeded(const Problem& problem, const Counts& counts, const FiniteCapacity& capacity,
                  Lack& lack) {
  const auto& [level, partition, have] = capacity;
  const Workload& workload = problem.workload();
  Bits need{0};
  for (const TensorId t : workload.tensors.ids()) {
    const TensorCounts& at = counts.levels[level][t];
    if (at.kept && (!partition || workload.tensors[t].role == *partition)) {
      need += Bits{static_cast<std::int64_t>(
          std::ceil(static_cast<double>(at.footprint) * problem.least_stored_bits(t, at.bits)))};
    }
  }
  if (need > have) {
    lack.exceeded.push_back({level, partition, need, have});
    lack.excess += (need - have).count();
  }
}

Lack lack_of(const Problem& problem, const Mapping& mapping) {
  const Counts counts = count(problem, mapping);
  Lack lack;
  for (const FiniteCapacity& capacity : capacities_of(problem.arch())) {
    add_exceeded(problem, counts, capacity, lack);
  }
  return lack;
}

// The mapping of an unrolling with the smallest tiles: all temporal loops are outermost, and only
// what must be kept is kept, except the output at `output_levels`. Loops over dims that the output
// does not have are innermost, so that as few partial sums as possible leave.
class Leanest {
 public:
  Leanest(const Mapspace& space, const UnrollingClass& unrolling_class, LevelSet output_levels)
      : space_{space},
        unrolling_class_{unrolling_class},
        output_levels_{output_levels},
        extents_(workload().dims.size()) {}

  Mapping mapping() {
    keep(LevelId{0});
    const DimSet of_output = workload().tensors[workload().output()].dims();
    for (const bool in_output : {true, false}) {
      for (const DimId d : workload().dims.ids()) {
        if (of_output.contains(d) == in_output) {
          extents_[d] = least_before_fanouts(d);
          mapping_.nodes.emplace_back(Temporal{d, extents_[d]});
        }
      }
    }
    for (std::size_t l = 1; l <= arch().levels.size(); ++l) {
      for (const FanoutId f : arch().fanouts.ids()) {
        if (arch().levels_above[f] == l) {
          unroll(f);
        }
      }
      if (l < arch().levels.size()) {
        keep(static_cast<LevelId>(l));
      }
    }
    return canonical(workload(), mapping_);
  }

 private:
  const Arch& arch() const { return space_.problem().arch(); }
  const Workload& workload() const { return space_.problem().workload(); }

  void keep(LevelId level) {
    Keep node{level, {}};
    for (const TensorId t : workload().tensors.ids()) {
      const bool chosen = t == workload().output() && output_levels_.contains(level);
      if (space_.keep_rule(level, t) == KeepRule::kKeep || chosen) {
        node.tensors.insert(t);
      }
    }
    if (!node.tensors.empty()) {
      mapping_.nodes.emplace_back(node);
    }
  }

  // The smallest extent that gives work to the instances of all fanouts.
  std::int64_t least_before_fanouts(DimId d) const {
    if (!space_.constraints().factors.imperfect) {
      return workload().dims[d].bound / temporal_bounds(workload(), unrolling_class_)[d];
    }
    for (const std::int64_t extent : space_.domains()[d]) {
      std::optional<std::int64_t> block = extent;
      for (const Unroll& unroll : unrolling_class_.first) {
        if (unroll.dim == d && block) {
          block = block_of(space_.domains()[d], *block, unroll.factor);
        }
      }
      if (block) {
        return extent;
      }
    }
    return workload().dims[d].bound;
  }

  void unroll(FanoutId fanout) {
    for (const Unroll& unroll : unrolling_class_.first) {
      if (unroll.fanout == fanout) {
        extents_[unroll.dim] = (extents_[unroll.dim] + unroll.factor - 1) / unroll.factor;
        mapping_.nodes.emplace_back(
            Parallel{unroll.dim, extents_[unroll.dim], fanout, unroll.axis});
      }
    }
    for (const Unroll& unroll :
         unrolling_class_.first) {  // blocks of more than 1, behind the last fanout
      const bool goes_on = std::any_of(
          unrolling_class_.first.begin(), unrolling_class_.first.end(), [&](const Unroll& other) {
            return other.dim == unroll.dim && index_of(other.fanout) > index_of(fanout);
          });
      if (unroll.fanout == fanout && !goes_on && extents_[unroll.dim] > 1) {
        extents_[unroll.dim] = 1;
        mapping_.nodes.emplace_back(Temporal{unroll.dim, 1});
      }
    }
  }

  const Mapspace& space_;
  const UnrollingClass& unrolling_class_;
  LevelSet output_levels_;
  PerDim<std::int64_t> extents_;
  Mapping mapping_;
};

// The sets of levels that may keep the output without having to. A keep further in passes on final
// sums, which are narrower. Only the empty set if they are not.
std::vector<LevelSet> output_choices(const Mapspace& space) {
  const Workload& workload = space.problem().workload();
  const Tensor& output = workload.tensors[workload.output()];
  std::vector<LevelSet> choices{LevelSet{}};
  for (const LevelId l : space.problem().arch().levels.ids()) {
    if (output.bits != output.partial_bits &&
        space.keep_rule(l, workload.output()) == KeepRule::kFree) {
      for (std::size_t i = 0, known = choices.size(); i < known; ++i) {
        choices.push_back(choices[i] | LevelSet{l});
      }
    }
  }
  return choices;
}

}  // namespace

InfeasibleReport explain_infeasible(const Mapspace& space) {
  if (!space.is_listable()) {
    return {};  // too many unrollings to give reasons
  }
  if (space.is_ruled()) {
    return least_enlargement(space);
  }
  const std::vector<LevelSet> choices = output_choices(space);
  InfeasibleReport report;
  InfeasibleReport needs;
  std::optional<Lack> least;
  for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
    std::optional<Lack> of_class;
    for (const LevelSet choice : choices) {
      Lack lack = lack_of(space.problem(), Leanest{space, unrolling_class, choice}.mapping());
      if (!of_class || is_less(lack, *of_class)) {
        of_class = std::move(lack);
      }
    }
    for (const CapacityExceeded& exceeded : of_class->exceeded) {
      add(report, space.problem(), exceeded);
    }
    if (of_class->exceeded.empty()) {  // it would fit, but a systolic array cannot run it
      const Evaluation tried =
          evaluate(space.problem(), Leanest{space, unrolling_class, {}}.mapping());
      if (const auto* why = std::get_if<Infeasible>(&tried)) {
        add(report, space.problem(), *why);
        add(needs, space.problem(), *why);
      }
    }
    if (!least || is_less(*of_class, *least)) {
      least = std::move(of_class);
    }
  }
  for (std::size_t i = 0; least && i < least->exceeded.size(); ++i) {
    add(needs, space.problem(), least->exceeded[i]);
  }
  report.smallest_need = needs.smallest_need;
  return report;
}

namespace {

using SearchFor = std::function<SearchResult(const Objective&)>;

// Adds the least value of a limited figure: with the other limit, if a mapping is within it.
// Otherwise, if a mapping is within this limit alone, the other limit is at fault.
void explain_limit(const char* name, Objective least, const Objective& limit,
                   const SearchFor& search, InfeasibleReport& report) {
  for (const bool alone : {false, true}) {
    if (alone) {
      least.max_energy.reset();
      least.max_latency.reset();
    }
    const SearchResult found = search(least);
    if (found.cost && alone && is_within_limits(limit, *found.cost)) {
      return;
    }
    if (!found.cost && !found.interrupted) {
      continue;
    }
    ++report.reasons[name];
    if (found.cost && !found.interrupted) {
      report.smallest_need[name] =
          static_cast<std::int64_t>(std::ceil(objective_value(least, *found.cost)));
    }
    return;
  }
}

}  // namespace

InfeasibleReport explain_limits(const Objective& asked, const SearchFor& search) {
  InfeasibleReport report;
  const ObjectiveFunction energy = Objective::kEnergy.function;
  const ObjectiveFunction latency = Objective::kLatency.function;
  if (asked.max_energy) {
    explain_limit("energy limit", {energy, false, asked.mode, std::nullopt, asked.max_latency},
                  {energy, false, asked.mode, asked.max_energy, std::nullopt}, search, report);
  }
  if (asked.max_latency) {
    explain_limit("latency limit", {latency, false, asked.mode, asked.max_energy, std::nullopt},
                  {latency, false, asked.mode, std::nullopt, asked.max_latency}, search, report);
  }
  return report;
}

}  // namespace mapsim::exact
