// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_model.hpp"

#include <algorithm>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/crossing.hpp"

namespace mapsim::fusion {

GroupModel::GroupModel(const Arch& arch, const EinsumChain& chain, const Group& group,
                       const Surroundings& surroundings, std::optional<LevelId> only_level,
                       const Deadline& deadline)
    : arch_{arch},
      piece_{piece_of(chain, group.first, group.last)},
      first_{group.first},
      around_{surroundings},
      held_{&deadline} {
  for (const Workload& workload : piece_.einsums) {
    problems_.emplace_back(arch, workload);
  }
  for (const LevelId level : arch.levels.ids()) {
    if (level != LevelId{0} && is_above_arrays(level) && level == only_level.value_or(level)) {
      levels_.push_back(level);
    }
  }
  if (piece_.einsums.size() > 1) {
    for (const Intermediate& passed : piece_.intermediates) {
      scope_levels_.push_back(levels_of(passed));
    }
    for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
      sourcings_.push_back(list_sourcings(e));
    }
  }
}

bool GroupModel::is_above_arrays(LevelId level) const {
  return std::all_of(arch_.levels_above.begin(), arch_.levels_above.end(),
                     [&](std::size_t above) { return index_of(level) < above; });
}

LevelSet GroupModel::levels_of(const Intermediate& passed) const {
  LevelSet levels;
  for (const LevelId level : levels_) {
    if (problems_[passed.producer].may_keep(level, einsum(passed.producer).output())) {
      levels.insert(level);
    }
  }
  return levels;
}

// Does an einsum make or read it?
bool GroupModel::has(std::size_t e, const Intermediate& passed) const {
  return passed.producer == e ||
         std::any_of(passed.readers.begin(), passed.readers.end(),
                     [&](const ChainTensor& use) { return use.einsum == e; });
}

bool GroupModel::is_group() const {
  for (std::size_t e = 0; e + 1 < piece_.einsums.size(); ++e) {
    if (!is_passed({e, einsum(e).output()})) {
      return false;
    }
  }
  return true;
}

bool GroupModel::has_two_widths(std::size_t e) const {
  const Tensor& output = einsum(e).tensors[einsum(e).output()];
  return output.bits != output.partial_bits;
}

// Every level that must keep the tensor does, and none that may not.
bool GroupModel::may_share(const ChainTensor& use, LevelSet levels) const {
  const LevelId source = around_.sources[use.einsum][use.tensor];
  bool skips = false;  // a level that must keep it, as far as is known
  for (const LevelId level : arch_.levels.ids()) {
    if (!levels.contains(level)) {
      skips = skips || (level > source && problems_[use.einsum].must_keep(level, use.tensor));
    } else if (skips || source >= level || !problems_[use.einsum].may_keep(level, use.tensor)) {
      return false;
    }
  }
  return !is_passed(use);
}

bool GroupModel::may_move(const SharedBoundary& boundary, double moved) const {
  const auto& [use, parent, child] = boundary;
  const bool is_held = use.einsum + 1 == piece_.einsums.size() &&
                       use.tensor == einsum(use.einsum).output() &&
                       parent == around_.sources[use.einsum][use.tensor];
  return !is_held || !around_.final_sums.value_or(false) || crosses_once(moved, whole(use));
}

std::vector<Sourcing> GroupModel::list_sourcings(std::size_t e) {
  std::vector<Sourcing> all{{PerTensor<LevelSet>(einsum(e).tensors.size()), std::nullopt}};
  std::vector<LevelSet> sets{{}};  // of levels
  for (const LevelId level : levels_) {
    for (std::size_t i = 0, count = sets.size(); i < count; ++i) {
      sets.push_back(sets[i] | LevelSet{level});
    }
  }
  for (const TensorId t : einsum(e).tensors.ids()) {
    for (std::size_t i = 0, count = all.size(); i < count; ++i) {
      held_.check();
      held_.grow_to(all.size() * sizeof(Sourcing));
      for (const LevelSet& levels : sets) {
        if (!levels.empty() && may_share({e, t}, levels)) {
          all.push_back(all[i]);
          all.back().shared[t] = levels;
        }
      }
    }
  }
  const TensorId output = einsum(e).output();
  std::vector<Sourcing> with_widths;
  for (const Sourcing& one : all) {
    const bool is_inner = is_passed({e, output}) || !one.shared[output].empty();
    const bool is_held = !is_inner && around_.final_sums && e + 1 == piece_.einsums.size();
    if (is_held) {
      with_widths.push_back({one.shared, around_.final_sums});
    } else if (is_inner && has_two_widths(e)) {
      with_widths.push_back({one.shared, true});
      with_widths.push_back({one.shared, false});
    } else {
      with_widths.push_back(one);
    }
  }
  return with_widths;
}

std::vector<SharedBoundary> GroupModel::boundaries(std::size_t e, const Sourcing& sourcing) const {
  std::vector<SharedBoundary> all;
  for (const TensorId t : einsum(e).tensors.ids()) {
    LevelId parent = around_.sources[e][t];
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    for (const LevelId level : levels_) {
      if (sourcing.shared[t].contains(level)) {
        all.insert(all.begin() + first, {{e, t}, parent, level});
        parent = level;
      }
    }
  }
  return all;
}

Branch GroupModel::branch_of(std::size_t e, const EnteredBranch& entered, const Sourcing& sourcing,
                             const ScopeLevels& levels) const {
  Branch branch{first_ + e, entered.bounds, entered.entry};
  branch.entry.final_sums = sourcing.final_sums;
  branch.entry.sources = around_.sources[e];
  branch.entry.sources.resize(einsum(e).tensors.size());
  for (const TensorId t : einsum(e).tensors.ids()) {
    if (const auto i = piece_.intermediate_of({e, t})) {
      branch.entry.sources[t] = *levels[*i];
    }
    for (const LevelId level : levels_) {
      if (sourcing.shared[t].contains(level)) {
        branch.entry.sources[t] = level;
      }
    }
  }
  return branch;
}

void GroupModel::add_shared(const SharedBoundary& boundary, double moved,
                            std::span<const Port> ports, std::vector<double>& components) const {
  const auto& [use, parent, child] = boundary;
  const Problem& problem = problems_[use.einsum];
  const bool is_output = use.tensor == problem.workload().output();
  const double distinct = whole(use);
  Boundary crossed{use.tensor, parent, child, is_output && crosses_once(moved, distinct)};
  crossed.distinct = distinct;
  const BoundaryCost cost{problem, crossed, ports, {!ports.empty(), false}};
  const EndFlow flow{moved, is_output ? moved - distinct : 0};
  components.resize(1 + ports.size());
  cost.charge({flow, flow, flow, flow}, components.data(), 1);
}

double GroupModel::whole(const ChainTensor& use) const {
  const Workload& workload = einsum(use.einsum);
  return static_cast<double>(footprint(workload.tensors[use.tensor], bounds_of(workload)));
}

double GroupModel::bits_of(const SharedBoundary& boundary, std::optional<bool> final_sums) const {
  const auto& [e, t] = boundary.use;
  const Tensor& tensor = einsum(e).tensors[t];
  const bool is_wide = t == einsum(e).output() && final_sums == std::optional(false);
  return static_cast<double>((is_wide ? tensor.partial_bits : tensor.bits).count());
}

TakenBits GroupModel::taken_by_scopes(const std::vector<FiniteCapacity>& capacities,
                                      const ScopeLevels& levels, const std::vector<LiveSet>& held,
                                      std::size_t e,
                                      const std::vector<std::optional<bool>>& final_sums) const {
  TakenBits taken = around_.taken;
  take_scopes(piece_, levels, held, e, final_sums, capacities, taken);
  return taken;
}

}  // namespace mapsim::fusion
