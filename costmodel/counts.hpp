// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "core/index.hpp"
#include "core/units.hpp"

namespace mapsim {

// Elements that cross the two sides of a level (docs/model.md#counts). `reads` excludes read-backs
// and drains.
struct AccessCounts {
  std::int64_t reads = 0;      // to the child, operands
  std::int64_t fills = 0;      // from the parent
  std::int64_t updates = 0;    // partial or final sums coming up from the child
  std::int64_t readbacks = 0;  // partial sums going back down to the child
  std::int64_t drains = 0;     // sums going up to the parent
  void add(const AccessCounts& n, std::int64_t times = 1) {
    reads += times * n.reads;
    fills += times * n.fills;
    updates += times * n.updates;
    readbacks += times * n.readbacks;
    drains += times * n.drains;
  }
  friend bool operator==(const AccessCounts&, const AccessCounts&) = default;
};

// One tensor at one level.
struct TensorCounts {
  bool kept = false;
  std::int64_t footprint = 0;  // distinct elements of one instance's (largest) tile
  // Widths of an element: as stored, as it crosses to the child below (reads, updates, read-backs),
  // and as it crosses to the parent above (fills, drains). Operands: all the same. Sums:
  // docs/model.md.
  Bits bits{0};
  Bits down_bits{0};
  Bits up_bits{0};
  AccessCounts total;    // over all instances
  AccessCounts busiest;  // of the first instance, which is the busiest
  Bits read_bits{0};     // the busiest instance's traffic through its read port
  Bits write_bits{0};    // ... and through its write port
  friend bool operator==(const TensorCounts&, const TensorCounts&) = default;
};

// One tensor in the network of a fanout that gives an energy per hop: docs/model.md#networks.
// Zeros: nothing of the tensor crosses it.
struct NetworkCounts {
  std::int64_t words = 0;      // elements at its outer end: operands down, sums up
  std::int64_t received = 0;   // at its inner end: elements, each instance's by itself
  std::int64_t routed = 0;     // to groups of instances that differ in irrelevant loops only
  std::int64_t half_hops = 0;  // of what is routed, each element over the route of its group
  std::int64_t returns = 0;    // sums that come down again, at the outer end
  Bits bits{0};                // width of an element
  double word_hops() const;
  void add(const NetworkCounts& n, std::int64_t times) {
    words += times * n.words;
    received += times * n.received;
    routed += times * n.routed;
    half_hops += times * n.half_hops;
    returns += times * n.returns;
  }
  friend bool operator==(const NetworkCounts&, const NetworkCounts&) = default;
};

// All actions of a machine under a mapping.
struct Counts {
  PerLevel<PerTensor<TensorCounts>> levels;
  PerFanout<std::int64_t> reductions;  // additions in the reduction network, total
  PerFanout<std::int64_t> used_x;      // instances used along X, of one parent instance
  PerFanout<std::int64_t> used_y;
  PerFanout<PerTensor<NetworkCounts>> networks;
  std::int64_t macs = 0;
  std::int64_t steps = 0;  // temporal steps of the first compute instance
  friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace mapsim
