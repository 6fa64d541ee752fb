// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_counts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "interop/timeloop_tiles.hpp"

namespace mapsim {

namespace {

constexpr TimeloopRules kBoundaryRules{TimeloopRule::kBoxHull,        TimeloopRule::kDirection,
                                       TimeloopRule::kExtrapolation,  TimeloopRule::kWholeDelta,
                                       TimeloopRule::kNeighbourLinks, TimeloopRule::kUniform,
                                       TimeloopRule::kPackedPlaces,   TimeloopRule::kRest};

// The first instance of a storage in the whole run: the points of a dim that its tiles hold.
PointRanges points_of(const TimeloopDesign& design, DimId dim, std::size_t block) {
  PointRanges starts{{0, 1}};
  std::int64_t stride = design.workload.dims[dim].bound;
  const Offsets whole = extents_from(design, 0);
  stride = whole[dim];
  for (std::size_t b = 0; b < block; ++b) {
    for (const TimeloopLoop& loop : design.blocks[b].temporal) {
      if (loop.dim == dim) {
        stride /= loop.bound;
        starts = spread(starts, stride, 0, loop.bound);
      }
    }
    for (const TimeloopLoop& loop : design.blocks[b].spatial) {
      stride /= loop.dim == dim ? loop.bound : 1;
    }
  }
  return intersection(spread(starts, 1, 0, stride), {{0, design.workload.dims[dim].bound}});
}

// Distinct points of a tensor that the first instance of a storage holds at some time.
std::int64_t distinct(const TimeloopDesign& design, TensorId tensor, std::size_t block) {
  std::int64_t points = 1;
  for (const Rank& rank : design.workload.tensors[tensor].ranks) {
    PointRanges sums{{0, 1}};
    for (const Term& term : rank.terms) {
      PointRanges more;
      for (const PointRange& range : points_of(design, term.dim, block)) {
        const PointRanges part =
            spread(sums, term.coefficient, range.begin, range.end - range.begin);
        more.insert(more.end(), part.begin(), part.end());
      }
      sums = normalized(std::move(more));
    }
    points *= size(sums);
  }
  return points;
}

// Temporal steps of the first instance. A dim's loops in order, outermost first; `last`: all loops
// outside are in their last iteration.
std::int64_t steps_of(const std::vector<std::pair<TimeloopLoop, bool>>& loops, std::size_t from,
                      bool last) {
  if (from == loops.size()) {
    return 1;
  }
  const auto& [loop, spatial] = loops[from];
  if (spatial) {
    return steps_of(loops, from + 1, last && loop.residual == 1);
  }
  const std::int64_t trips = last ? loop.residual : loop.bound;
  return (trips - 1) * steps_of(loops, from + 1, false) + steps_of(loops, from + 1, last);
}

std::vector<std::pair<TimeloopLoop, bool>> loops_over(const TimeloopDesign& design, DimId dim) {
  std::vector<std::pair<TimeloopLoop, bool>> loops;
  for (const TimeloopBlock& block : design.blocks) {
    for (const bool spatial : {false, true}) {
      for (const TimeloopLoop& loop : spatial ? block.spatial : block.temporal) {
        if (loop.dim == dim) {
          loops.emplace_back(loop, spatial);
        }
      }
    }
  }
  return loops;
}

std::int64_t steps_of_first(const TimeloopDesign& design) {
  std::int64_t steps = 1;
  for (const DimId d : design.workload.dims.ids()) {
    steps *= steps_of(loops_over(design, d), 0, true);
  }
  return steps;
}

}  // namespace

const TimeloopCrossing& TimeloopCounter::crossing(const TimeloopBoundary& boundary,
                                                  TimeloopRules rules) {
  const TimeloopRules relevant = rules & kBoundaryRules;
  const auto key =
      std::tuple{index_of(boundary.tensor), boundary.parent, boundary.child, relevant.bits()};
  auto at = memo_.find(key);
  if (at == memo_.end()) {
    at = memo_.emplace(key, cross(design_, boundary, relevant)).first;
  }
  return at->second;
}

// The network below each storage. Masked (rule kMasking): as if every storage kept the tensor, then
// the bypassing ones are taken out from the inside, and their parent's transfers grow to what they
// would have served. Else one boundary from keeper to keeper.
std::vector<TimeloopCrossing> TimeloopCounter::networks(TensorId tensor, TimeloopRules rules) {
  const std::size_t levels = design_.blocks.size();
  std::vector<TimeloopCrossing> networks(levels);
  const auto keeps = [&](std::size_t l) { return design_.blocks[l].keep.contains(tensor); };
  if (!rules.contains(TimeloopRule::kMasking)) {
    for (std::size_t l = 0; l < levels; ++l) {
      std::size_t child = l + 1;
      while (child < levels && !keeps(child)) {
        ++child;
      }
      if (keeps(l)) {
        networks[l] = crossing({tensor, l, child}, rules);
      }
    }
    return networks;
  }
  for (std::size_t l = 0; l < levels; ++l) {
    networks[l] = crossing({tensor, l, l + 1}, rules);
  }
  for (std::size_t l = levels; l-- > 1;) {
    if (keeps(l)) {
      continue;
    }
    TimeloopCrossing& outer = networks[l - 1];
    const double asked = networks[l].words() * static_cast<double>(outer.fanout);
    const double factor = asked / outer.sent;
    for (TimeloopTransfers& each : outer.transfers) {
      each.words *= factor;
    }
    outer.link_words = 0;
  }
  return networks;
}

std::size_t TimeloopCounter::outermost_keeper(TensorId tensor) const {
  std::size_t level = 0;
  while (level < design_.blocks.size() && !design_.blocks[level].keep.contains(tensor)) {
    ++level;
  }
  return level;
}

// Elements whose first visit needs no read.
std::int64_t TimeloopCounter::first_visits(TensorId tensor, std::size_t level,
                                           TimeloopRules rules) const {
  if (!rules.contains(TimeloopRule::kPartition)) {
    return distinct(design_, tensor, level);
  }
  std::int64_t partition = timeloop_tile(design_, tensor, 0, true);
  for (std::size_t l = 1; l <= level; ++l) {
    const std::int64_t tile = timeloop_tile(design_, tensor, l, true);
    partition = partition * tile / timeloop_group_tile(design_, tensor, l - 1);
  }
  return partition;
}

TimeloopAccesses TimeloopCounter::accesses(TensorId tensor, std::size_t level,
                                           TimeloopRules rules) {
  TimeloopAccesses at;
  at.kept = design_.blocks[level].keep.contains(tensor);
  if (!at.kept) {
    return at;
  }
  at.tile = timeloop_tile(design_, tensor, level, rules.contains(TimeloopRule::kBoxHull));
  const std::vector<TimeloopCrossing> all = networks(tensor, rules);
  double peers = 0;
  if (level > 0) {
    peers = all[level - 1].link_words /
            static_cast<double>(instances(level, rules | TimeloopRules{TimeloopRule::kInstances}));
  }
  const double content = all[level].words();
  double share = 0;
  if (level > outermost_keeper(tensor)) {
    // Timeloop fills from the storage just outside, whether it keeps the tensor or not.
    const TimeloopCrossing& from = crossing({tensor, level - 1, level}, rules);
    share = from.first_child;
    if (rules.contains(TimeloopRule::kAverageShare)) {
      share = 0;
      for (const TimeloopTransfers& each : from.transfers) {
        share +=
            each.words * static_cast<double>(each.multicast) / static_cast<double>(from.fanout);
      }
    }
  }
  const bool output = tensor == design_.workload.output();
  at.reads = content + peers;
  at.fills = share + peers;
  if (output) {
    const double first = static_cast<double>(first_visits(tensor, level, rules));
    at.updates = content;
    at.reads -= first;
    const bool filled = rules.contains(TimeloopRule::kFirstFills);
    at.fills -= level > outermost_keeper(tensor) && !filled ? first : 0;
  }
  if (rules.contains(TimeloopRule::kRoundedAverages)) {
    at.reads = std::round(at.reads);
    at.updates = std::round(at.updates);
    at.fills = output ? std::round(at.fills) : std::floor(at.fills);
  }
  return at;
}

TimeloopNetwork TimeloopCounter::network(TensorId tensor, std::size_t level, TimeloopRules rules) {
  const TimeloopCrossing below = crossing({tensor, level, level + 1}, rules);
  TimeloopNetwork network;
  const TimeloopCrossing masked = networks(tensor, rules)[level];
  network.words = masked.words();
  network.link_words = masked.link_words;
  for (const TimeloopTransfers& each : below.transfers) {
    network.word_hops += each.word_hops;
  }
  double hopping =
      below.words();  // words whose hops these are: as if every storage kept the tensor
  if (!rules.contains(TimeloopRule::kUnscaledHops) && hopping > 0) {
    network.word_hops *= network.words / hopping;
    hopping = network.words;
  }
  network.energy = static_cast<double>(instances(level, rules)) *
                   design_.machine.storages[level].energy_per_hop.value_or(0) *
                   (network.word_hops + network.link_words);
  if (tensor == design_.workload.output() && !rules.contains(TimeloopRule::kOneWay) &&
      hopping > 0) {
    const double once = static_cast<double>(distinct(design_, tensor, level));
    network.energy *= 2 - once / hopping;
  }
  return network;
}

std::int64_t TimeloopCounter::instances(std::size_t level, TimeloopRules rules) const {
  std::int64_t nominal = 1;
  std::int64_t tiles = 1;   // of partial loops: of all instances together ...
  std::int64_t rounds = 1;  // ... in this many rounds
  for (const DimId d : design_.workload.dims.ids()) {
    const std::int64_t bound = design_.workload.dims[d].bound;
    std::int64_t extent = extents_from(design_, 0)[d];
    for (std::size_t b = 0; b < level; ++b) {
      for (const TimeloopLoop& loop : design_.blocks[b].temporal) {
        extent /= loop.dim == d ? loop.bound : 1;
      }
      for (const TimeloopLoop& loop : design_.blocks[b].spatial) {
        if (loop.dim == d) {
          rounds *= (bound + extent - 1) / extent;
          extent /= loop.bound;
          tiles *= (bound + extent - 1) / extent;
          nominal *= loop.bound;
        }
      }
    }
  }
  return rules.contains(TimeloopRule::kInstances) ? tiles / rounds : nominal;
}

// Of an instance in use: its share of an access, against one cluster-th of it
// (src/model/buffer.cpp: utilized_clusters, cluster_utilization).
double TimeloopCounter::cluster_share(std::size_t level, TimeloopRules rules) const {
  const TimeloopStorage& storage = design_.machine.storages[level];
  if (storage.cluster == 1 || !rules.contains(TimeloopRule::kWholeClusters)) {
    return 1;
  }
  const std::int64_t used = instances(level, {});
  const std::int64_t clusters = storage.mesh_x * storage.mesh_y / storage.cluster;
  const std::int64_t paid = rules.contains(TimeloopRule::kClusterPaysOnce) ? 1 : storage.cluster;
  return static_cast<double>(paid * std::min(used, clusters)) / static_cast<double>(used);
}

double TimeloopCounter::energy(TensorId tensor, std::size_t level, TimeloopRules rules) {
  const TimeloopAccesses at = accesses(tensor, level, rules);
  const TimeloopStorage& storage = design_.machine.storages[level];
  const bool whole = rules.contains(TimeloopRule::kVectorAccess);
  const auto vectors = [&](double words) {
    const double exact = words / static_cast<double>(storage.block);
    return whole ? std::ceil(exact) : exact;
  };
  auto [read, write, update] = storage.energy;
  if (rules.contains(TimeloopRule::kOneEnergy)) {
    read = write = update = std::max({read, write, update});
  }
  return static_cast<double>(instances(level, rules)) * cluster_share(level, rules) *
         (vectors(at.reads) * read + vectors(at.fills) * write + vectors(at.updates) * update);
}

std::int64_t TimeloopCounter::computes(TimeloopRules rules) const {
  return rules.contains(TimeloopRule::kInstances)
             ? steps_of_first(design_) * instances(design_.blocks.size(), rules)
             : design_.workload.macs();
}

double TimeloopCounter::compute_energy(TimeloopRules rules) const {
  return static_cast<double>(computes(rules)) * design_.machine.compute_energy;
}

std::int64_t TimeloopCounter::compute_cycles(TimeloopRules rules) const {
  if (!rules.contains(TimeloopRule::kNominalCycles)) {
    return steps_of_first(design_);
  }
  std::int64_t cycles = 1;
  for (const TimeloopBlock& block : design_.blocks) {
    for (const TimeloopLoop& loop : block.temporal) {
      cycles *= loop.bound;
    }
  }
  return cycles;
}

std::int64_t TimeloopCounter::level_cycles(std::size_t level, TimeloopRules rules) {
  const TimeloopStorage& storage = design_.machine.storages[level];
  const double cycles = static_cast<double>(compute_cycles(rules));
  double read = 0;
  double written = 0;
  double read_rate = 0;
  double write_rate = 0;
  for (const TensorId t : design_.workload.tensors.ids()) {
    const TimeloopAccesses at = accesses(t, level, rules);
    read += at.reads;
    written += at.fills + at.updates;
    read_rate += at.reads / cycles;
    write_rate += (at.fills + at.updates) / cycles;
  }
  if (rules.contains(TimeloopRule::kFloatCycles)) {
    double speed = 1;
    const auto limit = [&](const std::optional<double>& bandwidth, double rate) {
      speed = bandwidth && rate > 0 ? std::min(speed, *bandwidth / rate) : speed;
    };
    limit(storage.read_bandwidth, read_rate);
    limit(storage.write_bandwidth, write_rate);
    limit(storage.shared_bandwidth, read_rate + write_rate);
    return static_cast<std::int64_t>(std::ceil(cycles / speed));
  }
  double time = cycles;
  const auto limit = [&](const std::optional<double>& bandwidth, double words) {
    time = bandwidth ? std::max(time, std::ceil(words / *bandwidth)) : time;
  };
  limit(storage.read_bandwidth, read);
  limit(storage.write_bandwidth, written);
  limit(storage.shared_bandwidth, read + written);
  return static_cast<std::int64_t>(time);
}

std::int64_t TimeloopCounter::cycles(TimeloopRules rules) {
  std::int64_t cycles = compute_cycles(rules);
  for (std::size_t l = 0; l < design_.blocks.size(); ++l) {
    cycles = std::max(cycles, level_cycles(l, rules));
  }
  return cycles;
}

bool TimeloopCounter::uneven_instances() const {
  return instances(design_.blocks.size(), {}) * steps_of_first(design_) != design_.workload.macs();
}

double TimeloopCounter::walk_visits() const {
  double visits = 1;
  for (const TimeloopBlock& block : design_.blocks) {
    for (const TimeloopLoop& loop : block.temporal) {
      visits *= static_cast<double>(loop.bound);
    }
  }
  return visits;
}

}  // namespace mapsim
