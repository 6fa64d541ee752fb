// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/evaluate_into.hpp"
#include "costmodel/nvdla/sheet_layer.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

// An absent bandwidth is infinite.
Cycles transfer_time(double bits, const std::optional<BitsPerCycle>& bandwidth) {
  return Cycles{bandwidth ? static_cast<std::int64_t>(transfer_cycles(bits, *bandwidth)) : 0};
}

// Of the busiest instance. A gated access takes the time of one that is made.
double sparse_bits(const TensorCounts& at, const SparseTensor& sparse, PortKind port) {
  double bits = 0;
  for (const Access access : kAccesses) {
    const SparseAccess& of = sparse.busiest[static_cast<std::size_t>(access)];
    if (passes(access, port)) {
      const double made = bits_of(sparse.busiest, access, width_of(at, access));
      bits += of.actual > 0 ? made * (1 + of.gated / of.actual)
                            : made + of.gated * static_cast<double>(width_of(at, access).count());
    }
  }
  return bits;
}

// Appends a resource for each port of finite bandwidth. `padding`: of what comes in whole tiles.
void add_ports(const Problem& problem, LevelId level, const PerTensor<TensorCounts>& counts,
               const PerTensor<TilePadding>& padding, const SparseCounts* sparse,
               std::vector<Resource>& resources) {
  const Bandwidth& bandwidth = problem.arch().levels[level].bandwidth;
  const bool pads = !padding.empty() && timing_model(problem.arch()).pads(problem.arch(), level);
  for (const PortKind port : kPorts) {
    const std::optional<BitsPerCycle>& rate = rate_of(bandwidth, port);
    if (!rate) {
      continue;
    }
    double bits = 0;
    for (const TensorId t : counts.ids()) {
      if (sparse != nullptr) {
        bits += sparse_bits(counts[t], sparse->levels[level][t], port);
        continue;
      }
      const double moved = problem.moved_bits(t, bits_through(counts[t], port));
      bits += pads ? padding[t].all.of(moved) : moved;
    }
    resources.push_back({port, level, transfer_time(bits, rate), 0});
  }
}

// First fill of an operand's tile, or last drain of the output's, of the first instance.
Cycles edge_time(const Problem& problem, LevelId parent, LevelId child, TensorId tensor,
                 const TensorCounts& at, const PerTensor<TilePadding>& padding,
                 const SparseCounts* sparse) {
  const bool pads = !padding.empty() && timing_model(problem.arch()).pads(problem.arch(), parent);
  double each = problem.moved_bits(tensor, at.up_bits);
  if (sparse != nullptr) {
    const MovedShare& up = sparse->levels[child][tensor].up;
    each = static_cast<double>(at.up_bits.count()) * up.elements + up.format_bits;
  }
  const double moved = static_cast<double>(at.footprint) * each;
  return transfer_time(pads ? padding[tensor].first.of(moved) : moved,
                       edge_rate(problem, parent, child, tensor == problem.workload().output()));
}

Cycles edge_times(const Problem& problem, const Counts& counts,
                  const PerTensor<TilePadding>& padding, const SparseCounts* sparse) {
  Cycles sum{0};
  for (const TensorId t : problem.workload().tensors.ids()) {
    std::optional<LevelId> parent;
    for (const LevelId l : counts.levels.ids()) {
      if (!counts.levels[l][t].kept) {
        continue;
      }
      if (parent) {
        sum += edge_time(problem, *parent, l, t, counts.levels[l][t], padding, sparse);
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
    const Bits bits = bits_through(counts.levels[bottleneck.level][t], bottleneck.kind);
    all += bits.count();
    stationary += t == latency.compute.stationary ? bits.count() : 0;
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

void latency_into(const Problem& problem, const Nest& nest, const Counts& counts, Latency& latency,
                  const SparseCounts* sparse) {
  const Arch& arch = problem.arch();
  if (const std::optional<SheetTimes> sheet = sheet_times(problem)) {
    latency = sheet_latency(*sheet);
    return;
  }
  const TimingModel& model = timing_model(arch);
  latency.steady = Cycles{0};
  latency.bottleneck = 0;
  latency.resources.clear();
  latency.compute = model.time(problem, nest, counts.steps);
  if (sparse != nullptr) {
    latency.compute.busy = Cycles{static_cast<std::int64_t>(
        whole_cycles(sparse->steps * static_cast<double>(arch.compute.issue_interval)))};
  }
  const PerTensor<TilePadding> padding = model.paddings(problem, nest, counts);
  latency.resources.push_back({PortKind::kCompute, LevelId{}, latency.compute.total(), 0});
  for (const LevelId l : arch.levels.ids()) {
    add_ports(problem, l, counts.levels[l], padding, sparse, latency.resources);
  }
  RampedLatency ramped{latency.resources.front().time +
                       edge_times(problem, counts, padding, sparse)};
  for (std::size_t i = 0; i < latency.resources.size(); ++i) {
    const Resource& resource = latency.resources[i];
    if (resource.time > latency.steady) {
      latency.steady = resource.time;
      latency.bottleneck = i;
    }
    ramped.add(problem.overlap(resource.level), resource.kind, resource.time);
  }
  for (Resource& resource : latency.resources) {
    resource.utilization =
        static_cast<double>(resource.time.count()) / static_cast<double>(latency.steady.count());
  }
  latency.ramped = ramped.total();
  attribute_stall(counts, latency);
}

Latency latency(const Problem& problem, const Mapping& mapping, const Counts& counts) {
  Latency latency;
  latency_into(problem, make_nest(problem.workload(), mapping), counts, latency);
  return latency;
}

}  // namespace mapsim
