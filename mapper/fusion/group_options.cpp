// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_options.hpp"

#include <algorithm>

namespace mapsim::fusion {

namespace {

void finish(BranchOption& option, bool is_timed) {
  if (is_timed) {
    option.branch.entry.run = {option.entries, option.charged};
  } else {
    option.scale = option.entries;
    option.fixed = energy_in(option.charged);
  }
}

// Each option with each position of one more keep.
std::vector<BranchOption> with_keep(const GroupModel& model, const BranchOptima& optima,
                                    const std::vector<BranchOption>& options,
                                    const GroupCounts& group, const ChainTensor& use,
                                    const Sourcing& sourcing) {
  const Workload& einsum = model.piece().einsums[use.einsum];
  const Tensor& tensor = einsum.tensors[use.tensor];
  const double bits = GroupModel::bits_of(tensor, use.tensor == einsum.output(), sourcing);
  std::vector<BranchOption> longer;
  for (const KeepPosition& keep : group.keeps) {
    const bool may = keep.use == use && model.may_move(use, keep.moved);
    for (std::size_t w = 0; may && w < options.size(); ++w) {
      BranchOption option = options[w];
      option.keeps.push_back({use, keep.position});
      model.add_shared(use, keep.moved, optima.objective().charged_ports(), option.charged);
      take(optima.capacities(), model.level(), tensor.role, keep.largest * bits, option.resident);
      longer.push_back(std::move(option));
    }
  }
  return longer;
}

}  // namespace

double bound_of(const BranchOption& option, BranchOptima& optima, const TakenBits& taken) {
  return option.fixed + option.scale * optima.bound(option.branch, taken);
}

double least_moved(const GroupCounts& group, const ChainTensor& use) {
  double least = exact::kInfinity;
  for (const KeepPosition& keep : group.keeps) {
    least = keep.use == use ? std::min(least, keep.moved) : least;
  }
  return least;
}

std::vector<BranchOption> options_of(const GroupModel& model, BranchOptima& optima,
                                     const GroupCounts& group, std::size_t e) {
  std::vector<BranchOption> all;
  const TakenBits taken =
      model.taken_by_scopes(optima.capacities(), group.held, e, model.narrowest());
  for (const Sourcing& sourcing : model.sourcings(e)) {
    BranchOption start;
    start.resident = TakenBits(taken.size(), 0.0);
    start.branch = model.branch_of(e, group.branches[e], sourcing);
    start.entries = group.branches[e].entries;
    start.final_sums = sourcing.final_sums;
    std::vector<BranchOption> options{start};
    for (const TensorId t : model.shared_tensors(e, sourcing)) {
      options = with_keep(model, optima, options, group, {e, t}, sourcing);
    }
    for (BranchOption& option : options) {
      const TakenBits beside = sum_of(taken, option.resident);
      if (fits(optima.capacities(), beside)) {
        finish(option, optima.objective().is_timed());
        option.bound = bound_of(option, optima, beside);
        all.push_back(std::move(option));
      }
    }
  }
  std::sort(all.begin(), all.end(),
            [](const BranchOption& a, const BranchOption& b) { return a.bound < b.bound; });
  return all;
}

}  // namespace mapsim::fusion
