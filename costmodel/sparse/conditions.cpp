// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/conditions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/arithmetic.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/sparse/packing.hpp"

namespace mapsim {

namespace {

// Lanes that are packed with the nonzeros of this tensor share a transfer: the batches that its
// tile takes without zeros.
bool is_packed(const SparseModel& model, const Workload& workload, TensorId leader,
               const std::vector<ServedSpace>& sets) {
  bool packed = false;
  for (const DimId d : workload.dims.ids()) {
    packed = packed || (sets.size() == 1 && sets[0][d].batches != 1 &&
                        workload.tensors[leader].dims().contains(d));
  }
  return packed && model.looks_at(leader);
}

// The tile of the leader; of a window or known zeros it may not be scattered, nor along blocks.
TileShape leader_tile(const SparseModel& model, const Workload& workload, TensorId leader,
                      const ServedSpace& space) {
  const Tensor& tensor = workload.tensors[leader];
  PerDim<std::int64_t> extents(space.size());
  for (const DimId d : space.ids()) {
    extents[d] = space[d].count;
  }
  for (const Rank& rank : tensor.ranks) {
    for (const Term& term : rank.terms) {
      const DensityModel& occupancy = model.occupancy(leader);
      const bool needs_whole = rank.terms.size() > 1 || occupancy.is_data() ||
                               (!occupancy.is_uniform() && occupancy.pattern().dim == term.dim);
      if (needs_whole && !space[term.dim].is_whole) {
        refuse_conditions(workload, leader,
                          "in a nest with loops over " + workload.dims[term.dim].name +
                              " outside and inside of instances that do not share the transfer");
      }
    }
  }
  return tile_shape(tensor, extents);
}

// The first loops, up to the last one that moves the tile; those after it leave it where it is.
std::size_t moving_loops(const Problem& problem, const Nest& nest, TensorId tensor,
                         std::size_t child_position, bool at_compute) {
  const Tensor& of = problem.workload().tensors[tensor];
  if (at_compute && !problem.arch().compute.register_reuse.contains(of.role)) {
    return child_position;
  }
  std::size_t moving = 0;
  for (std::size_t i = 0; i < child_position; ++i) {
    if (!nest.loops[i].fanout && of.dims().contains(nest.loops[i].dim)) {
      moving = i + 1;
    }
  }
  return moving;
}

bool contains(const ServedSpace& outer, const ServedSpace& inner) {
  bool all = true;
  for (const DimId d : outer.ids()) {
    all = all && inner[d].count <= outer[d].count;
  }
  return all;
}

// Of sets within each other the smallest decides.
std::vector<ServedSpace> least_of(const std::vector<ServedSpace>& sets) {
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
  return least;
}

// Where tiles of a leader cut its blocks, some have parts of more blocks than others: the chance
// that the tile around an index along the blocks has a nonzero. Empty: it is the same for all.
std::vector<double> hit_by_place(const SparseModel& model, const Workload& workload,
                                 TensorId leader, const std::vector<ServedSpace>& sets) {
  const DensityModel& occupancy = model.occupancy(leader);
  if (occupancy.is_uniform() || occupancy.is_data()) {
    return {};
  }
  const std::vector<ServedSpace> least = least_of(sets);
  if (least.size() != 1) {
    return {};
  }
  const TileShape tile = leader_tile(model, workload, leader, least.front());
  const std::int64_t length = tile[occupancy.block_rank()];
  if (!cuts_blocks(occupancy, length)) {
    return {};
  }
  const std::int64_t block = occupancy.pattern().block;
  std::vector<double> hit;
  const std::int64_t bound = occupancy.box()[occupancy.block_rank()];
  for (std::int64_t start = 0; start < bound; start += length) {
    double empty = 1;  // a line along the blocks
    const std::int64_t end = std::min(start + length, bound);
    for (std::int64_t at = start; at < end;) {
      const std::int64_t here = std::min(end, (at / block + 1) * block) - at;
      const Hypergeometric of = hypergeometric(block, occupancy.pattern().kept, here);
      empty *= of.first == 0 ? of.probability.front() : 0;
      at += here;
    }
    hit.resize(static_cast<std::size_t>(end), 1 - std::pow(empty, real(points_of(tile) / length)));
  }
  return hit;
}

// The chance of a leader whose blocks are cut, and known zeros of `other`, go by the same places.
void refuse_data_along_blocks(const SparseModel& model, const Workload& workload, TensorId leader,
                              TensorId other) {
  if (workload.tensors[other].dims().contains(model.occupancy(leader).pattern().dim)) {
    refuse_conditions(workload, leader,
                      "where its tiles cut its blocks, along which zeros of " +
                          workload.tensors[other].name + " are data or packed");
  }
}

// Of one leader, whose zeros are not data.
double all_hit(const SparseModel& model, const Workload& workload, TensorId leader,
               const std::vector<ServedSpace>& sets) {
  const std::vector<ServedSpace> least = least_of(sets);
  const DensityModel& occupancy = model.occupancy(leader);
  if (least.empty() || occupancy.is_dense()) {
    return 1;
  }
  if (least.size() == 1) {
    const TileShape tile = leader_tile(model, workload, leader, least.front());
    return points_of(tile) == 1 ? occupancy.density() : 1 - occupancy.empty(tile);
  }
  if (!occupancy.is_uniform() || least.size() > 2) {
    refuse_conditions(workload, leader,
                      "where they hold for tiles that do not lie within each other");
  }
  // Two boxes around one operation: inclusion and exclusion.
  ServedSpace both(least[0].size());
  for (const DimId d : both.ids()) {
    both[d] = least[0][d].count <= least[1][d].count ? least[0][d] : least[1][d];
    if (!least[0][d].is_whole || !least[1][d].is_whole) {
      refuse_conditions(workload, leader, "where they hold for scattered tiles of several tensors");
    }
  }
  const TileShape a = leader_tile(model, workload, leader, least[0]);
  const TileShape b = leader_tile(model, workload, leader, least[1]);
  const std::int64_t united =
      points_of(a) + points_of(b) - points_of(leader_tile(model, workload, leader, both));
  return 1 - occupancy.empty(a) - occupancy.empty(b) + occupancy.empty({united});
}

}  // namespace

bool cuts_blocks(const DensityModel& occupancy, std::int64_t length) {
  if (occupancy.is_uniform() || occupancy.is_data()) {
    return false;
  }
  const std::int64_t block = occupancy.pattern().block;
  return length % block != 0 && block % length != 0;
}

DimSet dims_apart(const Tensor& tensor) {
  DimSet apart;
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 1) {
      apart.insert(rank.terms.front().dim);
    }
  }
  return apart;
}

ServedSpace served_space(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute) {
  const Workload& workload = problem.workload();
  const PerDim<std::int64_t> tile = nest.extents_at(workload, child_position);
  const std::size_t moving = moving_loops(problem, nest, tensor, child_position, at_compute);
  const DimSet apart = dims_apart(workload.tensors[tensor]);
  ServedSpace space(tile.size());
  for (const DimId d : space.ids()) {
    space[d].count = tile[d];
  }
  const bool skips = problem.sparse()->machine().when_zero == ZeroAct::kSkip;
  PerDim<bool> skipped(tile.size(), false);  // a loop over the dim is inside and not served
  for (std::size_t i = nest.loops.size(); i-- > 0;) {
    const NestLoop& loop = nest.loops[i];
    ServedDim& served = space[loop.dim];
    const bool packs =
        skips && loop.fanout && problem.arch().fanouts[*loop.fanout].balance == Balance::kPacked;
    const bool is_served = i >= child_position ? packs
                           : loop.fanout
                               ? i >= parent.position && problem.is_merged(*loop.fanout, tensor) &&
                                     !apart.contains(loop.dim)
                               : i >= moving;
    if (i < child_position && is_served) {
      served.count *= loop.bound;
      served.is_whole = served.is_whole && !skipped[loop.dim];
    }
    skipped[loop.dim] = skipped[loop.dim] || (i < child_position && !is_served);
    if (is_served && served.batches != 1) {
      served.batches = 0;  // those of several loops over lanes
    } else if (is_served && packs) {
      served.batches = batches_of(problem, nest, i, moving, served.count == loop.bound);
    }
  }
  return space;
}

FirstVisits first_visits(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute,
                         bool at_parent) {
  const Workload& workload = problem.workload();
  const DimSet relevant = workload.tensors[tensor].dims();
  const std::size_t moving = moving_loops(problem, nest, tensor, child_position, at_compute);
  FirstVisits first;
  for (std::size_t i = 0; i < child_position; ++i) {
    const NestLoop& loop = nest.loops[i];
    const bool comes_again =
        loop.fanout ? at_parent && i >= parent.position && !problem.is_merged(*loop.fanout, tensor)
                    : i < moving;
    if (comes_again && !relevant.contains(loop.dim)) {
      const auto bound = static_cast<std::size_t>(workload.dims[loop.dim].bound);
      std::vector<char>& marked =
          first.marked.try_emplace(loop.dim, std::vector<char>(bound, 1)).first->second;
      for (std::size_t at = 0; at < bound; ++at) {
        const bool is_first = static_cast<std::int64_t>(at) / loop.extent % loop.bound == 0;
        marked[at] = static_cast<char>(is_first ? marked[at] : 0);
      }
      first.share /= real(loop.bound);
    }
  }
  return first;
}

void ConditionChain::enter(const std::vector<BoundCondition>& conditions,
                           const ServedSpace& space) {
  for (const BoundCondition& condition : conditions) {
    if (condition.act == ZeroAct::kGate &&
        is_packed(*model_, *workload_, condition.leader, {space})) {
      refuse_conditions(*workload_, condition.leader,
                        "that gate what lanes share that are packed: skip it");
    }
    any_[condition.leader] = {space};
    if (condition.act == ZeroAct::kSkip) {
      skip_[condition.leader] = {space};
    }
  }
}

Passed ConditionChain::passed() const {
  return {all_hit(*model_, *workload_, skip_), all_hit(*model_, *workload_, any_)};
}

void ConditionChain::check_tile(TensorId t, const TileShape& tile) const {
  const DensityModel& occupancy = model_->occupancy(t);
  if (tile.empty() || !cuts_blocks(occupancy, tile[occupancy.block_rank()])) {
    return;
  }
  for (const auto& [leader, sets] : any_) {
    const bool goes_by_place = model_->occupancy(leader).is_data() ||
                               !hit_by_place(*model_, *workload_, leader, sets).empty();
    if (goes_by_place && workload_->tensors[leader].dims().contains(occupancy.pattern().dim)) {
      refuse_conditions(*workload_, leader,
                        "where tiles of " + workload_->tensors[t].name +
                            " hold parts of n:m blocks: the sizes of the tiles and the conditions "
                            "then depend on each other");
    }
  }
}

Passed ConditionChain::passed_nonzeros(TensorId t) const {
  const bool is_known =
      model_->occupancy(t).is_data() && std::any_of(any_.begin(), any_.end(), [&](const auto& of) {
        return model_->occupancy(of.first).is_data();
      });
  for (const auto& [leader, sets] : any_) {
    if (model_->occupancy(t).is_data() &&
        !hit_by_place(*model_, *workload_, leader, sets).empty()) {
      refuse_data_along_blocks(*model_, *workload_, leader, t);
    }
  }
  if (!is_known) {
    return passed();
  }
  const auto share = [&](ServedByLeader sets) {
    sets[t] = {ServedSpace(workload_->dims.size())};
    return all_hit(*model_, *workload_, sets) / model_->occupancy(t).density();
  };
  return {share(skip_), share(any_)};
}

Passed ConditionChain::passed_again(const FirstVisits& first) const {
  const bool is_known = std::any_of(any_.begin(), any_.end(), [&](const auto& of) {
    return model_->occupancy(of.first).is_data() ||
           is_packed(*model_, *workload_, of.first, of.second) ||
           !hit_by_place(*model_, *workload_, of.first, of.second).empty();
  });
  const Passed all = passed();
  if (!is_known || first.share >= 1) {
    return all;
  }
  const auto again = [&](double of_all, const ServedByLeader& sets) {
    const double of_first = all_hit(*model_, *workload_, sets, first.marked);
    return std::max(0.0, (of_all - first.share * of_first) / (1 - first.share));
  };
  return {again(all.unskipped, skip_), again(all.made, any_)};
}

double all_hit(const SparseModel& model, const Workload& workload, const ServedByLeader& sets,
               const std::map<DimId, std::vector<char>>& among) {
  KnownZeros known = known_sets(model, workload, sets);
  known.restrict_to(among);
  double chance = 1;
  std::map<DimId, std::vector<double>> by_place;
  for (const auto& [leader, spaces] : sets) {
    const DensityModel& occupancy = model.occupancy(leader);
    if (is_packed(model, workload, leader, spaces)) {
      if (!known.hits().empty()) {
        refuse_conditions(workload, leader, "where lanes are packed and other zeros are data");
      }
      chance *= packed_hit(model, workload, leader, spaces[0], among);
    } else if (const auto hit = hit_by_place(model, workload, leader, spaces); !hit.empty()) {
      for (const auto& [other, of_other] : sets) {
        if (model.occupancy(other).is_data() || is_packed(model, workload, other, of_other)) {
          refuse_data_along_blocks(model, workload, leader, other);
        }
      }
      std::vector<double>& all =
          by_place.try_emplace(occupancy.pattern().dim, hit.size(), 1.0).first->second;
      std::transform(all.begin(), all.end(), hit.begin(), all.begin(), std::multiplies<>{});
    } else {
      chance *= occupancy.is_data() ? 1 : all_hit(model, workload, leader, spaces);
    }
  }
  for (const auto& [dim, hit] : by_place) {
    const auto marked = among.find(dim);
    double sum = 0;
    double places = 0;
    for (std::size_t at = 0; at < hit.size(); ++at) {
      const bool counts = marked == among.end() || marked->second[at] != 0;
      sum += counts ? hit[at] : 0;
      places += counts ? 1 : 0;
    }
    chance *= sum / places;
  }
  return chance * known.share();
}

KnownZeros known_sets(const SparseModel& model, const Workload& workload,
                      const ServedByLeader& sets) {
  KnownZeros known{workload};
  for (const auto& [leader, spaces] : sets) {
    const DensityModel& occupancy = model.occupancy(leader);
    for (const ServedSpace& space : spaces) {
      if (occupancy.is_data() && !is_packed(model, workload, leader, spaces)) {
        known.require(leader, occupancy, leader_tile(model, workload, leader, space));
      }
    }
  }
  return known;
}

// An operation is skipped, or gated, with any of the tiles that it takes from; or at a zero. The
// smallest set of all, one operation, decides where the unit looks at the operand itself.
AwaitedSets awaited_sets(const Problem& problem, const Nest& nest) {
  const SparseModel& model = *problem.sparse();
  const Workload& workload = problem.workload();
  AwaitedSets awaited;
  const auto append = [](const ServedByLeader& from, ServedByLeader& to) {
    for (const auto& [leader, spaces] : from) {
      to[leader].insert(to[leader].end(), spaces.begin(), spaces.end());
    }
  };
  for (const TensorId t : workload.tensors.ids()) {
    ConditionChain chain{model, workload};
    const auto& placements = nest.placements[t];
    for (std::size_t i = 0; i < placements.size(); ++i) {
      const Placement& parent = placements[static_cast<LevelId>(i)];
      const bool last = i + 1 == placements.size();
      const std::size_t position =
          last ? nest.loops.size() : placements[static_cast<LevelId>(i + 1)].position;
      if (const auto& conditions = model.conditions(parent.level, t); !conditions.empty()) {
        chain.enter(conditions, served_space(problem, nest, t, parent, position, last));
      }
    }
    append(chain.skip(), awaited.skip);
    append(chain.any(), awaited.any);
  }
  const ServedSpace one(workload.dims.size());
  for (const TensorId t : workload.tensors.ids()) {
    if (model.looks_at(t)) {
      if (model.machine().when_zero == ZeroAct::kSkip) {
        awaited.skip[t] = {one};
      }
      if (model.machine().when_zero != ZeroAct::kNothing) {
        awaited.any[t] = {one};
      }
    }
  }
  return awaited;
}

}  // namespace mapsim
