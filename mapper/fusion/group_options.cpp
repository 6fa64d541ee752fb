// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_options.hpp"

#include <algorithm>

#include "costmodel/crossing.hpp"

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

// Each option with each position of one more keep, which may not lie inside of the tensor's keep
// further in, if there is one.
std::vector<BranchOption> with_keep(const GroupModel& model, const BranchOptima& optima,
                                    const std::vector<BranchOption>& options,
                                    const GroupCounts& group, const SharedBoundary& boundary,
                                    const Sourcing& sourcing) {
  const Workload& einsum = model.piece().einsums[boundary.use.einsum];
  const Tensor& tensor = einsum.tensors[boundary.use.tensor];
  std::vector<BranchOption> longer;
  for (const KeepPosition& keep : group.keeps) {
    const bool is_it = keep.use == boundary.use && keep.level == boundary.child;
    if (!is_it || !model.may_move(boundary, keep.moved)) {
      continue;
    }
    for (const BranchOption& before : options) {
      const bool is_innermost = before.keeps.empty() || before.keeps.back().use != boundary.use;
      if (!is_innermost && keep.position > before.keeps.back().position) {
        continue;
      }
      // What arrives here: from the branch, or from the keep further in.
      const auto final_sums =
          is_innermost
              ? sourcing.final_sums
              : std::optional(crosses_once(before.keeps.back().moved, model.whole(boundary.use)));
      BranchOption option = before;
      option.keeps.push_back({boundary.use, boundary.child, keep.position, keep.moved});
      model.add_shared(boundary, keep.moved, optima.objective().charged_ports(), option.charged);
      take(optima.capacities(), boundary.child, tensor.role,
           keep.largest * model.bits_of(boundary, final_sums), option.resident);
      longer.push_back(std::move(option));
    }
  }
  return longer;
}

}  // namespace

double bound_of(const BranchOption& option, BranchOptima& optima, const TakenBits& taken) {
  return option.fixed + option.scale * optima.bound(option.branch, taken);
}

double least_moved(const GroupCounts& group, const SharedBoundary& boundary) {
  double least = exact::kInfinity;
  for (const KeepPosition& keep : group.keeps) {
    const bool is_it = keep.use == boundary.use && keep.level == boundary.child;
    least = is_it ? std::min(least, keep.moved) : least;
  }
  return least;
}

std::vector<BranchOption> options_of(const GroupModel& model, BranchOptima& optima,
                                     const GroupCounts& group, const ScopeLevels& levels,
                                     std::size_t e) {
  std::vector<BranchOption> all;
  const TakenBits taken =
      model.taken_by_scopes(optima.capacities(), levels, group.held, e, model.narrowest());
  for (const Sourcing& sourcing : model.sourcings(e)) {
    BranchOption start;
    start.resident = TakenBits(taken.size(), 0.0);
    start.branch = model.branch_of(e, group.branches[e], sourcing, levels);
    start.entries = group.branches[e].entries;
    start.final_sums = sourcing.final_sums;
    std::vector<BranchOption> options{start};
    for (const SharedBoundary& boundary : model.boundaries(e, sourcing)) {
      options = with_keep(model, optima, options, group, boundary, sourcing);
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
