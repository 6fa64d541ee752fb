// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/sparsity.hpp"
#include "core/diagnostic.hpp"
#include "interop/timeloop.hpp"

namespace mapsim {

// How one rank of a tensor is stored, in Timeloop's sense: a rank is a loop of the mapping, or
// several that are flattened. `bits`: of its words; 0: they cost nothing.
struct TimeloopRank {
  RankFormat format = RankFormat::kDense;
  std::int64_t bits = 0;
  std::vector<DimSet> flattened;  // loops over the dims of one of these sets are one rank
};
struct TimeloopRanks {
  std::vector<TimeloopRank> ranks;  // outermost first
  bool from_inside = false;         // which rank gets a loop first
};

// What stores a tensor in our words, and what of Timeloop's format is not in it.
struct StoredAs {
  TensorFormat format;
  std::vector<std::string> notes;
  std::string wrong;  // why Timeloop refuses it, or we do; else empty
};

// The format of tensor `t` at `level`. `formats`: of the tensor at each level, as far as it has
// one. `blocks`: of the mapping; none: the ranks are those of the tensor.
//
// A tile is stored here by the ranks of the tensor. Timeloop stores it by the loops below: the rank
// of ours that a loop walks gets the code of its innermost loop, and pointers to tiles in tiles are
// left out, with a note.
StoredAs to_format(const Workload& workload, TensorId t, std::size_t level,
                   const std::vector<std::optional<TimeloopRanks>>& formats,
                   const std::vector<TimeloopBlock>& blocks);

}  // namespace mapsim
