// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "arch/timing.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/timing/compute_time.hpp"

namespace mapsim {

// Runs of atomic operations during which the weights in the array and the sums in the accumulators
// stay (nvdla/doc, unit description, "Stripe operation"): the first instance's path. A stripe
// fetches its weights even if they are those of the one before.
struct Stripes {
  std::int64_t count = 0;
  std::int64_t operations = 0;  // atomic operations, a cycle each
  std::int64_t cycles = 0;      // sum over stripes of max(least stripe, operations)
  friend bool operator==(const Stripes&, const Stripes&) = default;
};
Stripes stripes_of(const Problem& problem, const NvdlaTiming& timing, const Nest& nest);

// Cycles that the outputs take behind the array (SDP): `post_throughput` kernels of one position a
// cycle.
std::int64_t post_cycles(const Problem& problem, const NvdlaTiming& timing);

// busy: atomic operations; load: cycles in which a stripe that is too short waits for the weights
// of the next one; skew: waiting for what is behind the array. In the mode sheet: the workbook's
// MAC cycles, busy.
ComputeTime nvdla_time(const Problem& problem, const NvdlaTiming& timing, const Nest& nest);

// Banks of the buffer that a tile takes, and the bits in them.
std::int64_t banks_for(const Arch& arch, const NvdlaTiming& timing, Bits tile);
Bits banked(const Arch& arch, const NvdlaTiming& timing, Bits tile);

}  // namespace mapsim
