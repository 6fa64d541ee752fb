// SPDX-License-Identifier: Apache-2.0
#include "check/group_supply.hpp"

#include <algorithm>

#include "costmodel/boundary_cost.hpp"

namespace mapsim::check {

GroupSupply::GroupSupply(const Arch& arch, const EinsumChain& piece, const FusedSpace& space,
                         const GroupContext& around, const BranchBounds& bounds)
    : arch_{arch}, piece_{piece}, around_{around}, bounds_{bounds} {
  for (const Workload& einsum : piece.einsums) {
    problems_.emplace_back(arch, einsum);
  }
  for (const LevelId level : arch.levels.ids()) {
    const bool is_in_space = !space.only_level || *space.only_level == level;
    if (level != LevelId{0} && is_above_arrays(arch, level) && is_in_space) {
      levels_.push_back(level);
    }
  }
  for (std::size_t e = 0; e + 1 < piece.einsums.size(); ++e) {
    if (!is_passed(e, einsum(e).output())) {
      return;
    }
  }
  for (const Intermediate& passed : piece.intermediates) {
    std::vector<LevelId>& may = scope_levels_.emplace_back();
    for (const LevelId level : levels_) {
      if (problems_[passed.producer].may_keep(level, einsum(passed.producer).output())) {
        may.push_back(level);
      }
    }
    if (may.empty()) {
      return;
    }
  }
  is_group_ = true;
  for (std::size_t e = 0; e < piece.einsums.size(); ++e) {
    supplies_.push_back(list_supplies(e));
  }
}

std::vector<ScopeLevels> GroupSupply::decisions(std::size_t e, const LevelsLeft& left) const {
  std::vector<ScopeLevels> all{ScopeLevels(left.size())};
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Intermediate& passed = piece_.intermediates[i];
    bool matters = left[i].size() == 1 || passed.producer == e;
    for (const ChainTensor& use : passed.readers) {
      matters = matters || use.einsum == e;
    }
    for (std::size_t k = 0, count = matters ? all.size() : 0; k < count; ++k) {
      all[k][i] = left[i].front();
      for (std::size_t l = 1; l < left[i].size(); ++l) {
        all.push_back(all[k]);
        all.back()[i] = left[i][l];
      }
    }
  }
  return all;
}

// The ways in which the group may keep a tensor between its level and a branch; the first one:
// nowhere. None leaves out a level that must keep it, outside of the innermost one.
std::vector<std::vector<LevelId>> GroupSupply::ways_of(std::size_t e, TensorId t) const {
  const LevelId source = around_.sources[e][t];
  const std::vector<LevelId> nowhere;
  std::vector<std::vector<LevelId>> ways{nowhere};
  std::vector<std::vector<LevelId>> open{nowhere};  // may go on inwards
  for (const LevelId level : arch_.levels.ids()) {
    if (!(level > source) || is_passed(e, t)) {
      continue;
    }
    const std::vector<std::vector<LevelId>> outer = open;
    const bool is_above_all = std::find(levels_.begin(), levels_.end(), level) != levels_.end();
    if (problems_[e].must_keep(level, t)) {
      open.clear();
    }
    for (std::size_t w = 0; is_above_all && problems_[e].may_keep(level, t) && w < outer.size();
         ++w) {
      std::vector<LevelId> way = outer[w];
      way.push_back(level);
      ways.push_back(way);
      open.push_back(way);
    }
  }
  return ways;
}

std::vector<Supply> GroupSupply::list_supplies(std::size_t e) const {
  const TensorId output = einsum(e).output();
  const Tensor& sums = einsum(e).tensors[output];
  std::vector<Supply> all{{PerTensor<std::vector<LevelId>>(einsum(e).tensors.size()), {}}};
  for (const TensorId t : einsum(e).tensors.ids()) {
    const std::vector<std::vector<LevelId>> ways = ways_of(e, t);
    for (std::size_t i = 0, count = all.size(); i < count; ++i) {
      for (std::size_t w = 1; w < ways.size(); ++w) {
        all.push_back(all[i]);
        all.back().kept[t] = ways[w];
      }
    }
  }
  const bool is_last = e + 1 == piece_.einsums.size();
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    const bool is_inside = is_passed(e, output) || !all[i].kept[output].empty();
    if (is_inside && sums.bits != sums.partial_bits) {
      all[i].final_sums = true;
      all.push_back({all[i].kept, false});
    } else if (!is_inside && is_last) {
      all[i].final_sums = around_.final_sums;
    }
  }
  return all;
}

Branch GroupSupply::supplied(std::size_t e, const EnteredBranch& entered, const Supply& supply,
                             const ScopeLevels& levels) const {
  Branch branch{around_.first + e, entered.bounds, entered.entry};
  branch.entry.final_sums = supply.final_sums;
  branch.entry.sources.resize(einsum(e).tensors.size());
  for (const TensorId t : einsum(e).tensors.ids()) {
    const auto passed = piece_.intermediate_of({e, t});
    const LevelId source = supply.kept[t].empty() ? around_.sources[e][t] : supply.kept[t].back();
    branch.entry.sources[t] = passed ? *levels[*passed] : source;
  }
  return branch;
}

double GroupSupply::elements(std::size_t e, TensorId t) const {
  return elements_of(einsum(e), t, bounds_of(einsum(e)));
}

void GroupSupply::charge(std::size_t e, TensorId t, const Supply& supply, std::size_t k,
                         double moved, std::vector<double>& charged) const {
  const ChainObjective& objective = bounds_.objective();
  const double distinct = elements(e, t);
  const bool is_output = t == einsum(e).output();
  const LevelId parent = k == 0 ? around_.sources[e][t] : supply.kept[t][k - 1];
  Boundary boundary{t, parent, supply.kept[t][k], is_output && moved == distinct, distinct};
  const BoundaryCost cost{problems_[e], boundary, objective.ports(), {objective.is_timed(), false}};
  BoundaryFlow flow;
  flow.parent = flow.child = flow.busy_parent =
      flow.busy_child = {moved, is_output ? moved - distinct : 0};  // there is one instance
  charged.resize(1 + objective.ports().size());
  cost.charge(flow, charged.data(), 1);
}

void GroupSupply::take_tile(std::size_t e, TensorId t, LevelId level, double tile,
                            std::optional<bool> is_final, TakenBits& taken) const {
  const Tensor& tensor = einsum(e).tensors[t];
  const bool is_wide = t == einsum(e).output() && is_final && !*is_final;
  const Bits width = is_wide ? tensor.partial_bits : tensor.bits;
  take(bounds_.capacities(), level, tensor.role, tile * static_cast<double>(width.count()), taken);
}

TakenBits GroupSupply::taken_by_scopes(std::size_t e, const ScopeLevels& levels,
                                       const std::vector<LiveSet>& held,
                                       const std::vector<std::optional<bool>>& final_sums) const {
  TakenBits taken = around_.taken;
  take_scopes(piece_, levels, held, e, final_sums, bounds_.capacities(), taken);
  return taken;
}

bool GroupSupply::may_cross(std::size_t e, TensorId t, std::size_t k, double moved) const {
  const bool is_last_output = e + 1 == piece_.einsums.size() && t == einsum(e).output();
  return k > 0 || !is_last_output || !around_.final_sums ||
         *around_.final_sums == (moved == elements(e, t));
}

}  // namespace mapsim::check
