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

// The format of one rank of a tensor in Timeloop's sense: a rank is a loop of the mapping, or
// several flattened loops. `bits`: width of its words; 0: they cost nothing.
struct TimeloopRank {
  RankFormat format = RankFormat::kDense;
  std::int64_t bits = 0;
  std::vector<DimSet> flattened;  // loops over the dims of one of these sets are one rank
};
struct TimeloopRanks {
  std::vector<TimeloopRank> ranks;  // outermost first
  bool from_inside = false;         // loops are assigned to ranks from the innermost one on
};

// A tensor's format in mapsim's terms, and notes about what Timeloop's format has beyond it.
struct StoredAs {
  TensorFormat format;
  std::vector<std::string> notes;
  std::string wrong;  // why Timeloop or mapsim refuses it; empty: neither does
};

// The format of tensor `t` at `level`. `formats`: those of the tensor at each level that has one.
// `blocks`: of the mapping; empty: ranks are those of the tensor.
//
// mapsim stores a tile by the ranks of the tensor, Timeloop by the loops below the level. A rank
// gets the format of the innermost loop over it. Pointers to tiles in tiles are left out, with a
// note.
StoredAs to_format(const Workload& workload, TensorId t, std::size_t level,
                   const std::vector<std::optional<TimeloopRanks>>& formats,
                   const std::vector<TimeloopBlock>& blocks);

}  // namespace mapsim
