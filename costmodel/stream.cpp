// SPDX-License-Identifier: Apache-2.0
#include "costmodel/stream.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/boundary_cost.hpp"

namespace mapsim {

namespace {

double cycles(Bits bits, const std::optional<BitsPerCycle>& bandwidth) {
  return bandwidth ? static_cast<double>(bits.count()) / bandwidth->count() : 0;
}

}  // namespace

StreamCost stream_cost(const Arch& arch, Bits in, Bits out) {
  const Storage& outermost = *arch.levels.begin();
  const Bandwidth& ports = outermost.bandwidth;
  StreamCost cost;
  cost.latency = Cycles{static_cast<std::int64_t>(std::ceil(std::max(
      {cycles(in + out, ports.shared), cycles(in, ports.read), cycles(out, ports.write)})))};
  cost.energy =
      Picojoules{static_cast<double>(in.count()) * parent_energy(outermost, false).crossing_pj +
                 static_cast<double>(out.count()) * parent_energy(outermost, true).crossing_pj};
  cost.energy += leakage_per_cycle(arch) * static_cast<double>(cost.latency.count());
  return cost;
}

}  // namespace mapsim
