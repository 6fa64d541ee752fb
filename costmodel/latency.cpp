// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "costmodel/evaluate_into.hpp"
#include "costmodel/nvdla/sheet_layer.hpp"

namespace mapsim {

namespace {

// [cycles] = ceil(bits / (bits/cycle)); an absent bandwidth is infinite.
Cycles transfer_time(double bits, const std::optional<BitsPerCycle>& bandwidth) {
  return Cycles{bandwidth ? static_cast<std::int64_t>(std::ceil(bits / bandwidth->count())) : 0};
}

// Appends a resource for each port of finite bandwidth.
void add_ports(const Problem& problem, LevelId level, const PerTensor<TensorCounts>& counts,
               std::vector<Resource>& resources) {
  const Bandwidth& bandwidth = problem.arch().levels[level].bandwidth;
  double read = 0;
  double write = 0;
  for (const TensorId t : counts.ids()) {
    read += problem.moved_bits(t, counts[t].read_bits);
    write += problem.moved_bits(t, counts[t].write_bits);
  }
  if (bandwidth.read) {
    resources.push_back({PortKind::kRead, level, transfer_time(read, bandwidth.read), 0});
  }
  if (bandwidth.write) {
    resources.push_back({PortKind::kWrite, level, transfer_time(write, bandwidth.write), 0});
  }
  if (bandwidth.shared) {
    resources.push_back(
        {PortKind::kShared, level, transfer_time(read + write, bandwidth.shared), 0});
  }
}

std::optional<BitsPerCycle> slower(std::optional<BitsPerCycle> a, std::optional<BitsPerCycle> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

// First fill of an operand's tile, or last drain of the output's, of the first instance: at the
// speed of the slower of the two ports that it passes.
Cycles edge_time(const Problem& problem, LevelId parent, LevelId child, TensorId tensor,
                 const TensorCounts& at) {
  const Arch& arch = problem.arch();
  const bool output = tensor == problem.workload().output();
  const Bandwidth& from = arch.levels[output ? child : parent].bandwidth;
  const Bandwidth& to = arch.levels[output ? parent : child].bandwidth;
  return transfer_time(
      static_cast<double>(at.footprint) * problem.moved_bits(tensor, at.up_bits),
      slower(from.shared ? from.shared : from.read, to.shared ? to.shared : to.write));
}

Cycles edge_times(const Problem& problem, const Counts& counts) {
  Cycles sum{0};
  for (const TensorId t : problem.workload().tensors.ids()) {
    std::optional<LevelId> parent;
    for (const LevelId l : counts.levels.ids()) {
      if (!counts.levels[l][t].kept) {
        continue;
      }
      if (parent) {
        sum += edge_time(problem, *parent, l, t, counts.levels[l][t]);
      }
      parent = l;
    }
  }
  return sum;
}

// Does the tensor that stays make up most of what passes the bottleneck?
bool stationary_binds(const Counts& counts, const Latency& latency) {
  const Resource& bottleneck = latency.resources[latency.bottleneck];
  std::int64_t all = 0;
  std::int64_t stationary = 0;
  for (const TensorId t : counts.levels[bottleneck.level].ids()) {
    const TensorCounts& at = counts.levels[bottleneck.level][t];
    const std::int64_t read = bottleneck.kind == PortKind::kWrite ? 0 : at.read_bits.count();
    const std::int64_t write = bottleneck.kind == PortKind::kRead ? 0 : at.write_bits.count();
    all += read + write;
    stationary += t == latency.compute.stationary ? read + write : 0;
  }
  return 2 * stationary > all;
}

// What the compute units do while a port keeps them waiting. A tile that stays and comes late has
// nothing to hide behind: the array has run dry, so shifting it in shows.
void attribute_stall(const Counts& counts, Latency& latency) {
  latency.stall = latency.steady - latency.compute.total();
  if (latency.stall > Cycles{0} && latency.compute.stationary &&
      stationary_binds(counts, latency)) {
    const Cycles late = std::min(latency.stall, latency.compute.hidden_load);
    latency.compute.load += late;
    latency.compute.hidden_load = latency.compute.hidden_load - late;
    latency.stall = latency.stall - late;
  }
}

}  // namespace

void latency_into(const Problem& problem, const Nest& nest, const Counts& counts,
                  Latency& latency) {
  const Arch& arch = problem.arch();
  latency.steady = Cycles{0};
  latency.bottleneck = 0;
  latency.resources.clear();
  latency.compute = compute_time(problem, nest, counts.steps);
  latency.resources.push_back({PortKind::kCompute, LevelId{}, latency.compute.total(), 0});
  if (const std::optional<SheetTimes> sheet = sheet_times(problem)) {
    latency.resources.push_back({PortKind::kShared, LevelId{0}, sheet->dram, 0});
  } else {
    for (const LevelId l : arch.levels.ids()) {
      add_ports(problem, l, counts.levels[l], latency.resources);
    }
  }
  Cycles hidden = latency.resources.front().time;  // compute and what overlaps with it
  PerLevel<Cycles> shown(arch.levels.size());      // busiest port of each single-buffered level
  for (std::size_t i = 0; i < latency.resources.size(); ++i) {
    const Resource& resource = latency.resources[i];
    if (resource.time > latency.steady) {
      latency.steady = resource.time;
      latency.bottleneck = i;
    }
    if (resource.kind != PortKind::kCompute) {
      const bool hides = arch.levels[resource.level].double_buffered;
      Cycles& time = hides ? hidden : shown[resource.level];
      time = std::max(time, resource.time);
    }
  }
  for (Resource& resource : latency.resources) {
    resource.utilization =
        static_cast<double>(resource.time.count()) / static_cast<double>(latency.steady.count());
  }
  latency.ramped = hidden + edge_times(problem, counts);
  for (const Cycles time : shown) {
    latency.ramped += time;
  }
  attribute_stall(counts, latency);
}

Latency latency(const Problem& problem, const Mapping& mapping, const Counts& counts) {
  Latency latency;
  latency_into(problem, make_nest(problem.workload(), mapping), counts, latency);
  return latency;
}

}  // namespace mapsim
