// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/transfer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "costmodel/network.hpp"
#include "costmodel/reference/simulate.hpp"

namespace mapsim {
namespace {

// Marks points as met; returns those that were met before.
PointSet meet(std::vector<bool>& met, const PointSet& points) {
  PointSet again;
  for (const std::int64_t point : points) {
    const auto p = static_cast<std::size_t>(point);
    if (met[p]) {
      again.push_back(point);
    }
    met[p] = true;
  }
  return again;
}

}  // namespace

double& HeldPoints::at(std::int64_t point) {
  const auto place = std::lower_bound(points.begin(), points.end(), point);
  if (place == points.end() || *place != point) {
    throw SimulationFault("a value is missing where the nest needs it");
  }
  return values[static_cast<std::size_t>(place - points.begin())];
}

Transfer::Transfer(const Problem& problem, const LoopWalk& walk, TensorId tensor,
                   const Projection& projection, Holder& parent, Holder& child,
                   const Nonzeros* nonzeros)
    : problem_{problem},
      walk_{walk},
      tensor_{tensor},
      is_output_{tensor == problem.workload().output()},
      projection_{projection},
      parent_{parent},
      child_{child},
      changes_(child.instances.size()),
      reductions_(problem.arch().fanouts.size(), 0),
      nonzeros_{nonzeros} {
  const Role role = problem.workload().tensors[tensor].role;
  if (child.level) {
    sliding_ = problem.arch().levels[*child.level].sliding;
  } else {
    forgets_ = !problem.arch().compute.register_reuse.contains(role);
  }
  const DimSet relevant = problem.workload().tensors[tensor].dims();
  for (std::size_t k = 0; k < child.depth; ++k) {
    const WalkLoop& loop = walk.loops()[k];
    if (!loop.fanout && relevant.contains(loop.dim)) {
      moving_ = k;
    }
  }
  find_stages();
  find_networks();
}

// Going up, the fanouts between child and parent that merge this tensor do so one after another.
void Transfer::find_stages() {
  std::map<LoopIndices, std::size_t> parents;
  for (std::size_t i = 0; i < parent_.instances.size(); ++i) {
    parents[parent_.instances[i]] = i;
  }
  for (LoopIndices instance : child_.instances) {
    std::fill(instance.begin() + static_cast<std::ptrdiff_t>(parent_.depth), instance.end(), 0);
    parent_of_.push_back(parents.at(instance));
  }
  std::vector<bool> merged(walk_.loops().size(), false);
  stages_.push_back(make_stage(std::nullopt, merged));
  for (std::size_t k = child_.depth; k-- > parent_.depth;) {
    const std::optional<FanoutId> fanout = walk_.loops()[k].fanout;
    if (!fanout || !problem_.is_merged(*fanout, tensor_)) {
      continue;
    }
    merged[k] = true;
    together_ = together_ && problem_.arch().fanouts[*fanout].forwarding;
    if (stages_.back().fanout == fanout) {
      stages_.pop_back();  // one more loop of the same fanout
    }
    stages_.push_back(make_stage(fanout, merged));
  }
}

Transfer::Stage Transfer::make_stage(std::optional<FanoutId> fanout,
                                     const std::vector<bool>& merged) const {
  return {fanout, make_streams(merged)};
}

// Child instances that differ in merged loops only share a stream.
std::vector<Transfer::Stream> Transfer::make_streams(const std::vector<bool>& merged) const {
  std::map<LoopIndices, Stream> streams;
  for (std::size_t i = 0; i < child_.instances.size(); ++i) {
    LoopIndices key = child_.instances[i];
    for (std::size_t k = 0; k < key.size(); ++k) {
      key[k] = merged[k] ? 0 : key[k];
    }
    Stream& stream = streams[key];
    stream.parent = parent_of_[i];
    stream.children.push_back(i);
  }
  std::vector<Stream> list;
  for (auto& [key, stream] : streams) {
    list.push_back(std::move(stream));
  }
  return list;
}

void Transfer::find_networks() {
  const Arch& arch = problem_.arch();
  const DimSet relevant = problem_.workload().tensors[tensor_].dims();
  for (const FanoutId fanout : arch.fanouts.ids()) {
    if (!asks_for_hops(arch, fanout, *parent_.level, child_.level)) {
      continue;
    }
    const auto& loops = walk_.loops();
    std::vector<bool> single(loops.size(), false);
    std::vector<bool> group(loops.size(), false);
    std::vector<bool> whole(loops.size(), false);
    std::vector<bool> outside(loops.size(), false);
    for (std::size_t k = parent_.depth; k < child_.depth; ++k) {
      const bool merges = loops[k].fanout && problem_.is_merged(*loops[k].fanout, tensor_);
      single[k] = merges && *loops[k].fanout > fanout;
      whole[k] = merges && *loops[k].fanout >= fanout;
      group[k] = whole[k] && (single[k] || !relevant.contains(loops[k].dim));
      outside[k] = loops[k].fanout && *loops[k].fanout >= fanout;
    }
    Network network{
        fanout, make_streams(whole), make_streams(group), make_streams(single), {}, {}, {}, {}};
    for (const Stream& stream : network.groups) {
      network.half_hops.push_back(half_hops_to(network, stream));
    }
    const std::vector<Stream> copies = make_streams(outside);
    for (const Stream& stream : network.whole) {
      network.copies.push_back(static_cast<std::size_t>(
          std::find_if(copies.begin(), copies.end(),
                       [&](const Stream& copy) {
                         return std::find(copy.children.begin(), copy.children.end(),
                                          stream.children.front()) != copy.children.end();
                       }) -
          copies.begin()));
    }
    const auto box = static_cast<std::size_t>(projection_.box_size());
    network.handed.assign(copies.size(), std::vector<bool>(is_output_ ? box : 0, false));
    networks_.push_back(std::move(network));
  }
}

// Along the middle to the last column that the group has instances in, and from there up and down
// each of its columns. Instances that are idle at the moment are served with the others.
std::int64_t Transfer::half_hops_to(const Network& network, const Stream& group) const {
  const std::int64_t middle = problem_.arch().fanouts[network.fanout].y - 1;  // in half rows
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> reach;  // per column: up, down
  std::int64_t last_column = 0;
  for (const std::size_t child : group.children) {
    std::int64_t column = 0;
    std::int64_t row = 0;
    for (std::size_t k = 0; k < walk_.loops().size(); ++k) {
      const WalkLoop& loop = walk_.loops()[k];
      if (loop.fanout == network.fanout) {
        std::int64_t& place = loop.axis == Axis::kX ? column : row;
        place = place * loop.bound + child_.instances[child][k];
      }
    }
    auto& [up, down] = reach[column];
    up = std::max(up, middle - 2 * row);
    down = std::max(down, 2 * row - middle);
    last_column = std::max(last_column, column);
  }
  std::int64_t half_hops = 2 * last_column;
  for (const auto& [column, sides] : reach) {
    half_hops += sides.first + sides.second;
  }
  return half_hops;
}

TileMove Transfer::move_of(std::optional<std::size_t> advanced) const {
  if (!advanced || forgets_) {
    return TileMove::kWhole;
  }
  if (!moving_ || *advanced > *moving_) {
    return TileMove::kStays;
  }
  return *advanced == *moving_ && sliding_ ? TileMove::kSlides : TileMove::kWhole;
}

void Transfer::plan(std::optional<std::size_t> advanced) {
  move_ = move_of(advanced);
  if (move_ == TileMove::kStays) {
    return;
  }
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    Change& change = changes_[i];
    const PointSet& held = child_.buffers[i].points;
    const std::optional<IterationTile> tile = walk_.tile(child_.depth, child_.instances[i]);
    change.next = tile ? projection_.points(*tile) : PointSet{};
    const bool slides = move_ == TileMove::kSlides;
    change.entering = slides ? without(change.next, held) : change.next;
    change.leaving = slides ? without(held, change.next) : held;
    count_child(i);
  }
  count_streams();
  count_networks();
  if (nonzeros_ != nullptr) {
    count_nonzeros();
  }
}

void Transfer::count_child(std::size_t instance) {
  Change& change = changes_[instance];
  AccessCounts& child = child_.accesses[instance];
  if (is_output_) {
    child.drains += count_of(change.leaving);
    // A sum that the instance meets for the first time starts at zero: no need to fetch it.
    change.returning = meet(child_.received[instance], change.entering);
    child.fills += count_of(change.returning);
  } else {
    child.fills += count_of(change.entering);
  }
}

// What enters a network of instances that share a transfer: the new points of their union tile, if
// neighbours pass points on; else every point that any of them lacks.
PointSet Transfer::entering(const Stream& stream) const {
  if (stream.children.size() == 1) {
    return changes_[stream.children.front()].entering;
  }
  const auto unite = [&](auto points_of) {
    PointSet all;
    for (const std::size_t i : stream.children) {
      const PointSet& points = points_of(i);
      all.insert(all.end(), points.begin(), points.end());
    }
    return united(std::move(all));
  };
  if (move_ == TileMove::kSlides && together_) {
    return without(unite([this](std::size_t i) -> auto& { return changes_[i].next; }),
                   unite([this](std::size_t i) -> auto& { return child_.buffers[i].points; }));
  }
  return unite([this](std::size_t i) -> auto& { return changes_[i].entering; });
}

void Transfer::count_streams() {
  flows_.clear();
  std::int64_t below = 0;  // points that enter the streams of the stage below
  for (const Stage& stage : stages_) {
    const bool at_parent = &stage == &stages_.back();
    if (!at_parent && !is_output_) {
      continue;
    }
    std::int64_t here = 0;
    for (const Stream& stream : stage.streams) {
      const PointSet points = entering(stream);
      here += count_of(points);
      AccessCounts& parent = parent_.accesses[stream.parent];
      if (at_parent && is_output_) {
        // What enters comes up again, once: so the updates are known now.
        const PointSet again = meet(parent_.handed[stream.parent], points);
        parent.updates += count_of(points);
        parent.readbacks += count_of(again);
        flows_.push_back({points, again});
      } else if (at_parent) {
        parent.reads += count_of(points);
        flows_.push_back({points, {}});
      }
    }
    if (stage.fanout && is_output_) {
      reductions_[*stage.fanout] += below - here;  // of n sums one is left: n - 1 additions
    }
    below = here;
  }
}

void Transfer::count_networks() {
  for (Network& network : networks_) {
    NetworkCounts& counts = network.counts;
    for (std::size_t i = 0; i < network.whole.size(); ++i) {
      const PointSet points = entering(network.whole[i]);
      counts.words += count_of(points);
      if (is_output_) {
        counts.returns += count_of(meet(network.handed[network.copies[i]], points));
      }
    }
    for (std::size_t i = 0; i < network.groups.size(); ++i) {
      const std::int64_t points = count_of(entering(network.groups[i]));
      counts.routed += points;
      counts.half_hops += points * network.half_hops[i];
    }
    for (const Stream& stream : network.single) {
      counts.received += count_of(entering(stream));
    }
  }
}

void Transfer::add_networks(PerFanout<PerTensor<NetworkCounts>>& networks) const {
  for (const Network& network : networks_) {
    networks[network.fanout][tensor_] = network.counts;
  }
}

void Transfer::leave() {
  if (move_ == TileMove::kStays || !is_output_) {
    return;
  }
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    for (const std::int64_t point : changes_[i].leaving) {
      double& value = child_.buffers[i].at(point);
      parent_.buffers[parent_of_[i]].at(point) += std::exchange(value, 0);
    }
  }
}

void Transfer::enter() {
  if (move_ == TileMove::kStays) {
    return;
  }
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    HeldPoints& above = parent_.buffers[parent_of_[i]];
    HeldPoints now{change.next, std::vector<double>(change.next.size(), 0)};
    for (const std::int64_t point : without(change.next, change.entering)) {
      now.at(point) = child_.buffers[i].at(point);
    }
    if (is_output_) {
      // A partial sum moves: where several instances fetch it, the first one gets it.
      for (const std::int64_t point : change.returning) {
        now.at(point) = std::exchange(above.at(point), 0);
      }
    } else {
      for (const std::int64_t point : change.entering) {
        now.at(point) = above.at(point);
      }
    }
    child_.buffers[i] = std::move(now);
  }
}

void Transfer::finish() {
  move_ = TileMove::kWhole;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    changes_[i] = {{}, {}, child_.buffers[i].points, {}};
    count_child(i);
    if (nonzeros_ != nullptr) {
      count_leaving(i);
    }
  }
  leave();
}

void Transfer::forget() {
  for (Network& network : networks_) {
    for (std::vector<bool>& copy : network.handed) {
      std::fill(copy.begin(), copy.end(), false);
    }
  }
}

}  // namespace mapsim
