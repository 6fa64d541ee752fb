// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_model.hpp"

#include <algorithm>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/crossing.hpp"

namespace mapsim::fusion {

GroupModel::GroupModel(const Arch& arch, const EinsumChain& chain, const Group& group,
                       const Surroundings& surroundings)
    : arch_{arch},
      piece_{piece_of(chain, group.first, group.last)},
      first_{group.first},
      around_{surroundings} {
  for (const Workload& workload : piece_.einsums) {
    problems_.emplace_back(arch, workload);
  }
}

bool GroupModel::is_group() const {
  for (std::size_t e = 0; e + 1 < piece_.einsums.size(); ++e) {
    if (!is_passed({e, einsum(e).output()})) {
      return false;
    }
  }
  return true;
}

bool GroupModel::may_share(LevelId level) const {
  for (const std::size_t above : arch_.levels_above) {
    if (index_of(level) >= above) {
      return false;
    }
  }
  return std::all_of(
      piece_.intermediates.begin(), piece_.intermediates.end(), [&](const Intermediate& passed) {
        return problems_[passed.producer].may_keep(level, einsum(passed.producer).output());
      });
}

bool GroupModel::has_two_widths(std::size_t e) const {
  const Tensor& output = einsum(e).tensors[einsum(e).output()];
  return output.bits != output.partial_bits;
}

bool GroupModel::may_share(const ChainTensor& use) const {
  const LevelId source = around_.sources[use.einsum][use.tensor];
  if (is_passed(use) || source >= level_ || !problems_[use.einsum].may_keep(level_, use.tensor)) {
    return false;
  }
  for (std::size_t l = index_of(source) + 1; l < index_of(level_); ++l) {
    if (problems_[use.einsum].must_keep(static_cast<LevelId>(l), use.tensor)) {
      return false;
    }
  }
  return true;
}

bool GroupModel::may_move(const ChainTensor& use, double moved) const {
  const bool is_last_output =
      use.einsum + 1 == piece_.einsums.size() && use.tensor == einsum(use.einsum).output();
  return !is_last_output || !around_.final_sums.value_or(false) || crosses_once(moved, whole(use));
}

std::vector<Sourcing> GroupModel::sourcings(std::size_t e) const {
  std::vector<Sourcing> all{{}};
  for (const TensorId t : einsum(e).tensors.ids()) {
    const std::size_t count = may_share({e, t}) ? all.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back({all[i].shared | TensorSet{t}, std::nullopt});
    }
  }
  const TensorId output = einsum(e).output();
  std::vector<Sourcing> with_widths;
  for (const Sourcing& one : all) {
    const bool is_inner = is_passed({e, output}) || one.shared.contains(output);
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

std::vector<TensorId> GroupModel::shared_tensors(std::size_t e, const Sourcing& sourcing) const {
  std::vector<TensorId> tensors;
  for (const TensorId t : einsum(e).tensors.ids()) {
    if (sourcing.shared.contains(t)) {
      tensors.push_back(t);
    }
  }
  return tensors;
}

Branch GroupModel::branch_of(std::size_t e, const EnteredBranch& entered,
                             const Sourcing& sourcing) const {
  Branch branch{first_ + e, entered.bounds, entered.entry};
  branch.entry.final_sums = sourcing.final_sums;
  branch.entry.sources.resize(einsum(e).tensors.size());
  for (const TensorId t : einsum(e).tensors.ids()) {
    const bool is_inner = is_passed({e, t}) || sourcing.shared.contains(t);
    branch.entry.sources[t] = is_inner ? level_ : around_.sources[e][t];
  }
  return branch;
}

void GroupModel::add_shared(const ChainTensor& use, double moved, std::span<const Port> ports,
                            std::vector<double>& components) const {
  const Problem& problem = problems_[use.einsum];
  const bool is_output = use.tensor == problem.workload().output();
  const double distinct = whole(use);
  Boundary boundary{use.tensor, around_.sources[use.einsum][use.tensor], level_,
                    is_output && crosses_once(moved, distinct)};
  boundary.distinct = distinct;
  const BoundaryCost cost{problem, boundary, ports, {!ports.empty(), false}};
  const EndFlow flow{moved, is_output ? moved - distinct : 0};
  components.resize(1 + ports.size());
  cost.charge({flow, flow, flow, flow}, components.data(), 1);
}

double GroupModel::whole(const ChainTensor& use) const {
  const Workload& workload = einsum(use.einsum);
  return static_cast<double>(footprint(workload.tensors[use.tensor], bounds_of(workload)));
}

double GroupModel::bits_of(const Tensor& tensor, bool is_output, const Sourcing& sourcing) {
  const bool is_wide = is_output && !sourcing.final_sums.value_or(false);
  return static_cast<double>((is_wide ? tensor.partial_bits : tensor.bits).count());
}

TakenBits GroupModel::taken_by_scopes(const std::vector<FiniteCapacity>& capacities,
                                      const std::vector<LiveSet>& held, std::size_t e,
                                      const std::vector<std::optional<bool>>& final_sums) const {
  TakenBits taken = around_.taken;
  take_scopes(piece_, level_, held, e, final_sums, capacities, taken);
  return taken;
}

}  // namespace mapsim::fusion
