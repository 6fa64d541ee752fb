// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_children.hpp"

#include <algorithm>
#include <optional>

namespace mapsim {

namespace {

std::int64_t low(const TileSet& tile, std::size_t rank) { return tile[rank].front().begin; }

// How far `from` must be moved to become `to`, per rank; nullopt: no way.
std::optional<std::vector<std::int64_t>> move_between(const Delta& from, const Delta& to) {
  std::vector<std::int64_t> by(from.tile.size());
  Delta moved = from;
  for (std::size_t r = 0; r < by.size(); ++r) {
    by[r] = low(to.tile, r) - low(from.tile, r);
    moved.tile[r] = shifted(moved.tile[r], by[r]);
    if (!moved.held.empty()) {
      moved.held[r] = shifted(moved.held[r], by[r]);
    }
  }
  return moved == to ? std::optional{by} : std::nullopt;
}

}  // namespace

std::int64_t Delta::size() const {
  return mapsim::size(tile) - (held.empty() ? 0 : mapsim::size(held));
}

Delta make_delta(const TileMaker& tiles, const TileMotion& motion) {
  Delta delta{tiles.at(motion.offsets), {}};
  if (motion.kind == TileMotion::Kind::kNothing) {
    delta.held = delta.tile;
  }
  if (motion.kind != TileMotion::Kind::kNew) {
    return delta;
  }
  const TileSet before = tiles.at(motion.before);
  std::vector<std::size_t> differ;
  for (std::size_t r = 0; r < delta.tile.size(); ++r) {
    delta.held.push_back(intersection(delta.tile[r], before[r]));
    if (delta.held[r] != delta.tile[r]) {
      differ.push_back(r);
    }
  }
  // One form per set of points: what is held is nothing, everything, or cuts a corner off.
  if (mapsim::size(delta.held) == 0) {
    delta.held.clear();
  } else if (differ.size() == 1) {
    const std::size_t r = differ.front();
    delta.tile[r] = difference(delta.tile[r], delta.held[r]);
    delta.held.clear();
  }
  return delta;
}

double Deliveries::words() const {
  double sum = 0;
  for (const TimeloopTransfers& each : transfers) {
    sum += each.words;
  }
  return sum;
}

Children::Children(const TimeloopDesign& design, const TimeloopBoundary& boundary, bool packed)
    : dims_{design.workload.dims.size()} {
  std::size_t used_x = 1;
  std::size_t used_y = 1;
  for (std::size_t b = boundary.parent; b < boundary.child; ++b) {
    const auto& spatial = design.blocks[b].spatial;
    Offsets stride = extents_from(design, b + 1);
    for (const TimeloopLoop& loop : spatial) {
      stride[loop.dim] *= loop.bound;
    }
    for (const TimeloopLoop& loop : spatial) {
      stride[loop.dim] /= loop.bound;
      loops_.push_back({loop.dim, loop.bound, stride[loop.dim]});
      (loop.axis == Axis::kX ? used_x : used_y) *= static_cast<std::size_t>(loop.bound);
    }
  }
  const auto mesh = [&](Axis axis) {
    return static_cast<std::size_t>(design.machine.fanout(boundary.parent, axis));
  };
  columns_ = std::max(used_x, mesh(Axis::kX));
  rows_ = std::max(used_y, mesh(Axis::kY));
  width_ = packed ? columns_ : used_x;
}

std::int64_t Children::nominal() const {
  std::int64_t children = 1;
  for (const Loop& loop : loops_) {
    children *= loop.bound;
  }
  return children;
}

PerDim<std::vector<std::int64_t>> Children::steps() const {
  PerDim<std::vector<std::int64_t>> steps(dims_, {0});
  for (const Loop& loop : loops_) {
    std::vector<std::int64_t> more;
    for (const std::int64_t base : steps[loop.dim]) {
      for (std::int64_t i = 0; i < loop.bound; ++i) {
        more.push_back(base + i * loop.stride);
      }
    }
    steps[loop.dim] = std::move(more);
  }
  return steps;
}

// By linear id: the outermost loop counts most.
std::vector<Offsets> Children::places(const std::vector<std::int64_t>& trips) const {
  std::vector<Offsets> places{Offsets(dims_, 0)};
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    std::vector<Offsets> more;
    more.reserve(places.size() * static_cast<std::size_t>(trips[l]));
    for (const Offsets& place : places) {
      for (std::int64_t i = 0; i < trips[l]; ++i) {
        more.push_back(place);
        more.back()[loops_[l].dim] += i * loops_[l].stride;
      }
    }
    places = std::move(more);
  }
  return places;
}

std::vector<Children::Place> Children::moves(const Tensor& tensor,
                                             const std::vector<std::int64_t>& trips) const {
  std::vector<Place> moves;
  for (const Offsets& place : places(trips)) {
    Place& move = moves.emplace_back(tensor.ranks.size(), 0);
    for (std::size_t r = 0; r < move.size(); ++r) {
      for (const Term& term : tensor.ranks[r].terms) {
        move[r] += term.coefficient * place[term.dim];
      }
    }
  }
  return moves;
}

// Words enter at the middle of the first column, go along the row to the last column, and up and
// down each column that has receivers.
double Children::hops(const std::vector<std::size_t>& ids) const {
  const double middle = (static_cast<double>(rows_) - 1) / 2;
  std::map<std::size_t, std::pair<double, double>> reach;  // per column: up, down
  std::size_t last_column = 0;
  for (const std::size_t id : ids) {
    const std::size_t column = id % width_;
    const double row = static_cast<double>(id / width_);
    auto& [up, down] = reach[column];
    up = std::max(up, middle - row);
    down = std::max(down, row - middle);
    last_column = std::max(last_column, column);
  }
  double hops = static_cast<double>(last_column);
  for (const auto& [column, sides] : reach) {
    hops += sides.first + sides.second;
  }
  return hops;
}

// Children with equal keys share a transfer.
template <class Key>
std::vector<Children::Group> Children::group(const std::vector<Key>& keys,
                                             const std::vector<bool>& served) const {
  std::map<Key, std::vector<std::size_t>> sharers;
  for (std::size_t id = 0; id < keys.size(); ++id) {
    if (!served[id]) {
      sharers[keys[id]].push_back(id);
    }
  }
  std::map<std::int64_t, Group> groups;
  for (const auto& [key, ids] : sharers) {
    Group& each = groups[static_cast<std::int64_t>(ids.size())];
    each.multicast = static_cast<std::int64_t>(ids.size());
    each.scatter += 1;
    each.hops += hops(ids);
  }
  std::vector<Group> list;
  for (const auto& [multicast, each] : groups) {
    list.push_back(each);
  }
  return list;
}

double Children::word_hops(const Tensor& tensor, double words, double own,
                           const std::vector<std::int64_t>& trips) const {
  std::vector<Place> keys;  // offsets along relevant dims
  const DimSet relevant = tensor.dims();
  for (const Offsets& place : places(trips)) {
    Place& key = keys.emplace_back();
    for (const DimId d : place.ids()) {
      key.push_back(relevant.contains(d) ? place[d] : 0);
    }
  }
  double hops = 0;
  double groups = 0;
  for (const Group& each : group(keys, std::vector<bool>(keys.size(), false))) {
    hops += each.hops;
    groups += static_cast<double>(each.scatter);
  }
  return words * (hops / groups) + groups * own - words;
}

// Which children find at a neighbour's place, the step before, what they need now. The mesh is as
// wide as the hardware, the numbering as wide as the mapping: a child beside another in one may not
// be in the other.
std::vector<bool> Children::served_by_neighbours(const std::vector<Place>& now,
                                                 const std::vector<Place>& before,
                                                 const Place& by) const {
  std::vector<bool> served(now.size(), false);
  for (std::size_t id = 0; id < now.size(); ++id) {
    const std::size_t column = id % columns_;
    const std::size_t row = id / columns_;
    const auto finds = [&](bool exists, std::size_t neighbour) {
      if (!exists || neighbour >= before.size()) {
        return;
      }
      Place wanted = now[id];
      for (std::size_t r = 0; r < wanted.size(); ++r) {
        wanted[r] += by[r];
      }
      served[id] = served[id] || before[neighbour] == wanted;
    };
    finds(row > 0, id - columns_);
    finds(row + 1 < rows_, id + columns_);
    finds(column > 0, id - 1);
    finds(column + 1 < columns_, id + 1);
  }
  return served;
}

Deliveries Children::uniformly(const Tensor& tensor, const Delta& delta,
                               const std::vector<std::int64_t>& trips, const PreviousStep* before) {
  Deliveries deliveries;
  const double words = static_cast<double>(delta.size());
  if (words == 0) {
    return deliveries;
  }
  const Sharing* sharing = nullptr;
  if (before == nullptr || before->delta.empty()) {
    const auto [at, fresh] = shared_.try_emplace(trips);
    if (fresh) {
      const std::vector<Place> now = moves(tensor, trips);
      at->second.groups = group(now, std::vector<bool>(now.size(), false));
    }
    sharing = &at->second;
  } else {
    const auto by = move_between(before->delta, delta);
    if (!by) {
      return uniformly(tensor, delta, trips, nullptr);
    }
    const auto [at, fresh] = linked_.try_emplace(LinkKey{{trips, before->trips}, *by});
    if (fresh) {
      const std::vector<Place> now = moves(tensor, trips);
      const auto served = served_by_neighbours(now, moves(tensor, before->trips), *by);
      at->second.groups = group(now, served);
      at->second.linked = std::count(served.begin(), served.end(), true);
    }
    sharing = &at->second;
  }
  for (const Group& each : sharing->groups) {
    const double read = words * static_cast<double>(each.scatter);
    deliveries.transfers.push_back({each.multicast, each.scatter, read, words * each.hops});
  }
  deliveries.link_words = words * static_cast<double>(sharing->linked);
  return deliveries;
}

Deliveries Children::exactly(const TileMaker& tiles, const TileMotion& motion) const {
  std::vector<std::int64_t> bounds;
  for (const Loop& loop : loops_) {
    bounds.push_back(loop.bound);
  }
  std::vector<Delta> deltas;
  std::vector<bool> idle;
  for (const Offsets& place : places(bounds)) {
    TileMotion own = motion;
    for (const DimId d : place.ids()) {
      own.offsets[d] += place[d];
      own.before[d] += place[d];
    }
    deltas.push_back(make_delta(tiles, own));
    idle.push_back(deltas.back().empty());
  }
  // One transfer for each set of points that is fetched.
  std::map<std::int64_t, TimeloopTransfers> sums;
  std::map<Delta, std::int64_t> sharers;
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    sharers[deltas[i]] += idle[i] ? 0 : 1;
  }
  for (const auto& [delta, count] : sharers) {
    if (count > 0) {
      TimeloopTransfers& sum = sums[count];
      sum.multicast = count;
      sum.scatter += 1;
      sum.words += static_cast<double>(delta.size());
    }
  }
  Deliveries deliveries;
  for (const auto& [count, sum] : sums) {
    deliveries.transfers.push_back(sum);
  }
  return deliveries;
}

}  // namespace mapsim
