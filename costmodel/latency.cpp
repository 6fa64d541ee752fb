// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "costmodel/evaluate_into.hpp"

namespace mapsim {

namespace {

// [cycles] = ceil(bits / (bits/cycle)); an absent bandwidth is infinite.
Cycles transfer_time(std::int64_t bits, const std::optional<BitsPerCycle>& bandwidth) {
  if (!bandwidth) {
    return Cycles{0};
  }
  return Cycles{
      static_cast<std::int64_t>(std::ceil(static_cast<double>(bits) / bandwidth->count()))};
}

// Appends a resource for each port of finite bandwidth.
void add_ports(LevelId level, const Bandwidth& bandwidth, const PerTensor<TensorCounts>& counts,
               std::vector<Resource>& resources) {
  std::int64_t read = 0;
  std::int64_t write = 0;
  for (const TensorCounts& at : counts) {
    read += at.read_bits.count();
    write += at.write_bits.count();
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
Cycles edge_time(const Arch& arch, LevelId parent, LevelId child, bool output,
                 const TensorCounts& at) {
  const Bandwidth& from = arch.levels[output ? child : parent].bandwidth;
  const Bandwidth& to = arch.levels[output ? parent : child].bandwidth;
  return transfer_time(
      at.footprint * at.up_bits.count(),
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
        sum += edge_time(problem.arch(), *parent, l, t == problem.workload().output(),
                         counts.levels[l][t]);
      }
      parent = l;
    }
  }
  return sum;
}

}  // namespace

void latency_into(const Problem& problem, const Counts& counts, Latency& latency) {
  const Arch& arch = problem.arch();
  latency.steady = Cycles{0};
  latency.bottleneck = 0;
  latency.resources.clear();
  latency.resources.push_back(
      {PortKind::kCompute, LevelId{}, Cycles{counts.steps * arch.compute.issue_interval}, 0});
  for (const LevelId l : arch.levels.ids()) {
    add_ports(l, arch.levels[l].bandwidth, counts.levels[l], latency.resources);
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
}

Latency latency(const Problem& problem, const Counts& counts) {
  Latency latency;
  latency_into(problem, counts, latency);
  return latency;
}

}  // namespace mapsim
