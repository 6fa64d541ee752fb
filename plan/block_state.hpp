// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace mapsim {

// A state in the search of a block: which operations have run, and when each tensor is where.
struct BlockState {
  using Set = std::uint64_t;  // operations of the block
  Set covered = 0;
  double now = 0;                 // what is appended starts no earlier
  std::vector<double> free;       // by clock; no earlier than now
  std::vector<double> available;  // by tensor of the block and server; kNever: not there
  double finish = 0;              // of all groups
  std::size_t out = 0;            // the place that made the last tensor
};

// States that have come.
class EarlierStates {
 public:
  // Adds a state, unless one has come that had run the same, with everything there as early: 0;
  // else what it takes [B], by estimate.
  std::size_t add(const BlockState& state);

 private:
  // By what has run and what is where: the times.
  std::map<std::vector<BlockState::Set>, std::vector<std::vector<double>>> known_;
};

}  // namespace mapsim
