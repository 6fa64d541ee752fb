// SPDX-License-Identifier: Apache-2.0
#include "costmodel/objective_range.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/ports.hpp"
#include "costmodel/problem.hpp"

namespace mapsim {

namespace {

// Bounds are this many times what they are derived from: whatever formats, padding, fills and
// read-backs add.
constexpr double kMargin = 100;

struct MostFigures {
  double energy = 0;  // [pJ]
  double cycles = 0;
};

// Of any mapping: each MAC moves its elements through all levels and networks by itself.
MostFigures most_of(const Arch& arch, const Workload& layer) {
  const Problem problem{arch, layer};
  double bits = 0;
  for (const Tensor& tensor : layer.tensors) {
    bits += static_cast<double>(tensor.partial_bits.count());
  }
  MostFigures of_mac{problem.mac_energy().count(),
                     static_cast<double>(arch.compute.issue_interval)};
  for (const Storage& level : arch.levels) {
    for (const bool output : {false, true}) {
      for (const EndEnergy& end : {parent_energy(level, output), child_energy(level, output)}) {
        of_mac.energy += bits * (end.crossing_pj + end.returning_pj);
      }
    }
    for (const PortKind port : kPorts) {
      const std::optional<BitsPerCycle>& rate = rate_of(level.bandwidth, port);
      of_mac.cycles += rate ? bits / rate->count() : 0;
    }
  }
  for (const FanoutId f : arch.fanouts.ids()) {
    const NetworkEnergy network = network_energy(problem, f, true);
    const double hops = static_cast<double>(arch.fanouts[f].x + arch.fanouts[f].y);
    of_mac.energy += network.addition_pj + bits * hops * network.hop_pj;
    of_mac.cycles += hops;
  }
  const double times = kMargin * static_cast<double>(problem.macs());
  const double cycles = times * of_mac.cycles;
  return {times * of_mac.energy + problem.leakage(Cycles{1}).count() * cycles, cycles};
}

}  // namespace

std::string range_obstacle(const ObjectiveFunction& function, const Arch& arch,
                           const std::vector<Workload>& layers) {
  MostFigures sum;
  for (const Workload& layer : layers) {
    const MostFigures most = most_of(arch, layer);
    sum.energy += most.energy;
    sum.cycles += most.cycles;
  }
  return std::isfinite(function.value(sum.energy, sum.cycles))
             ? ""
             : fmt::format(
                   "{} on {} may exceed {:.2g} [pJ, cycles], the largest number, so that no "
                   "mapping is known to be better than another; take lower powers",
                   to_string(function), arch.name, std::numeric_limits<double>::max());
}

}  // namespace mapsim
