// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/conditions.hpp"

#include <algorithm>

#include "core/diagnostic.hpp"
#include "costmodel/crossing.hpp"

namespace mapsim {

namespace {

[[noreturn]] void refuse(const Workload& workload, TensorId leader, const std::string& why) {
  throw ConfigError(
      {{workload.name, 0, 0, "",
        "conditions on " + workload.tensors[leader].name + " are not counted " + why, ""}});
}

// The tile of the leader; only of uniform zeros may it be scattered, and of no window.
TileShape leader_tile(const SparseModel& model, const Workload& workload, TensorId leader,
                      const ServedSpace& space) {
  const Tensor& tensor = workload.tensors[leader];
  PerDim<std::int64_t> extents(space.size());
  for (const DimId d : space.ids()) {
    extents[d] = space[d].count;
  }
  for (const Rank& rank : tensor.ranks) {
    for (const Term& term : rank.terms) {
      const bool needs_whole = rank.terms.size() > 1 || !model.occupancy(leader).is_uniform();
      if (needs_whole && !space[term.dim].is_whole) {
        refuse(workload, leader,
               "in a nest with loops over " + workload.dims[term.dim].name +
                   " outside and inside of instances that do not share the transfer");
      }
    }
  }
  return tile_shape(tensor, extents);
}

bool contains(const ServedSpace& outer, const ServedSpace& inner) {
  bool all = true;
  for (const DimId d : outer.ids()) {
    all = all && inner[d].count <= outer[d].count;
  }
  return all;
}

}  // namespace

ServedSpace served_space(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute) {
  const Workload& workload = problem.workload();
  const PerDim<std::int64_t> tile = nest.extents_at(workload, child_position);
  const DimSet relevant = workload.tensors[tensor].dims();
  std::size_t moving = 0;  // loops from here on leave the tile where it is
  for (std::size_t i = 0; i < child_position; ++i) {
    if (!nest.loops[i].fanout && relevant.contains(nest.loops[i].dim)) {
      moving = i + 1;
    }
  }
  const bool latched =
      problem.arch().compute.register_reuse.contains(workload.tensors[tensor].role);
  moving = at_compute && !latched ? child_position : moving;
  ServedSpace space(tile.size());
  for (const DimId d : space.ids()) {
    space[d].count = tile[d];
  }
  PerDim<bool> skipped(tile.size(), false);  // a loop over the dim is inside and not served
  for (std::size_t i = child_position; i-- > 0;) {
    const NestLoop& loop = nest.loops[i];
    const bool is_served =
        loop.fanout ? i >= parent.position && problem.is_merged(*loop.fanout, tensor) : i >= moving;
    if (is_served) {
      space[loop.dim].count *= loop.bound;
      space[loop.dim].is_whole = space[loop.dim].is_whole && !skipped[loop.dim];
    } else {
      skipped[loop.dim] = true;
    }
  }
  return space;
}

void ConditionChain::enter(const std::vector<BoundCondition>& conditions,
                           const ServedSpace& space) {
  for (const BoundCondition& condition : conditions) {
    Sets& sets = leaders_[condition.leader];
    sets.any = {space};
    if (condition.act == ZeroAct::kSkip) {
      sets.skip = {space};
    }
  }
}

Passed ConditionChain::passed() const {
  Passed passed;
  for (const auto& [leader, sets] : leaders_) {
    passed.unskipped *= all_hit(*model_, *workload_, leader, sets.skip);
    passed.made *= all_hit(*model_, *workload_, leader, sets.any);
  }
  return passed;
}

double all_hit(const SparseModel& model, const Workload& workload, TensorId leader,
               const std::vector<ServedSpace>& sets) {
  // Of sets within each other the smallest decides.
  std::vector<ServedSpace> least;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    bool decides = true;
    for (std::size_t k = 0; k < sets.size(); ++k) {
      decides = decides &&
                (k == i || !contains(sets[i], sets[k]) || (contains(sets[k], sets[i]) && i < k));
    }
    if (decides) {
      least.push_back(sets[i]);
    }
  }
  const DensityModel& occupancy = model.occupancy(leader);
  if (least.empty() || occupancy.is_dense()) {
    return 1;
  }
  if (least.size() == 1) {
    return 1 - occupancy.empty(leader_tile(model, workload, leader, least.front()));
  }
  if (!occupancy.is_uniform() || least.size() > 2) {
    refuse(workload, leader, "where they hold for tiles that do not lie within each other");
  }
  // Two boxes around one operation: inclusion and exclusion.
  ServedSpace both(least[0].size());
  for (const DimId d : both.ids()) {
    both[d] = least[0][d].count <= least[1][d].count ? least[0][d] : least[1][d];
    if (!least[0][d].is_whole || !least[1][d].is_whole) {
      refuse(workload, leader, "where they hold for scattered tiles of several tensors");
    }
  }
  const TileShape a = leader_tile(model, workload, leader, least[0]);
  const TileShape b = leader_tile(model, workload, leader, least[1]);
  const std::int64_t united =
      points_of(a) + points_of(b) - points_of(leader_tile(model, workload, leader, both));
  return 1 - occupancy.empty(a) - occupancy.empty(b) + occupancy.empty({united});
}

}  // namespace mapsim
