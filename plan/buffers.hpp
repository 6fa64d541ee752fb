// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/groups.hpp"
#include "plan/places.hpp"
#include "plan/plan_types.hpp"

namespace mapsim {

// A tensor in memory, from the group that makes it to the last one that reads it.
struct Buffer {
  std::string name;
  std::int64_t bytes = 0;
  std::size_t first = 0, last = 0;  // groups of the plan, both included
  std::int64_t offset = 0;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// Where tensors lie. Weights are not in it.
struct MemoryMap {
  std::vector<Buffer> buffers;
  std::int64_t peak = 0;   // end of the last buffer
  std::int64_t bound = 0;  // the most that is alive at once: no offsets need less
  std::int64_t naive = 0;  // without sharing
};

// Offsets for buffers, the largest first, each as low as those placed before let it (Pisarchyk and
// Lee 2020, greedy by size); then, where `peak` is above `bound`, a search for better ones, of no
// more than so many nodes for each capacity that it tries. Where `peak` is `bound` nothing is
// better.
MemoryMap place(std::vector<Buffer> buffers, std::size_t most_nodes = 20'000);

// The tensors of a plan: inputs, what groups make, and copies at other places. Those that an elided
// concat joins are one buffer. Groups that run at the same time are all alive.
std::vector<Buffer> buffers_of(const Versions& versions, const std::vector<Place>& places,
                               const Groups& groups, const std::vector<PlannedGroup>& plan);

}  // namespace mapsim
