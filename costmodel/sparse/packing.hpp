// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "costmodel/sparse/conditions.hpp"

namespace mapsim {

// Lanes that are packed with the nonzeros of a tile (docs/sparsity.md#time).

// The loops over the dim of the lanes that are packed together with them, the lanes last: those of
// the innermost tile around them of a tensor with the dim, since all that lanes work on is there,
// but for those that packed lanes further out take.
std::vector<std::size_t> packed_loops(const Problem& problem, const Nest& nest, std::size_t lanes);

// The batches that the tile takes without zeros, if a transfer serves one batch of these lanes:
// after every one of the first `moving` loops comes another. `alone`: it serves no more than the
// lanes. 1: it serves all of the tile. 0: not counted.
std::int64_t batches_of(const Problem& problem, const Nest& nest, std::size_t lanes,
                        std::size_t moving, bool alone);

// The share of these batches that nonzeros of the leader fill. `among`: of these operations, which
// are those of the first batches; not empty: whether there is a batch at all.
double packed_hit(const SparseModel& model, const Workload& workload, TensorId leader,
                  const ServedSpace& space, const std::map<DimId, std::vector<char>>& among);

[[noreturn]] void refuse_conditions(const Workload& workload, TensorId leader,
                                    const std::string& why);

}  // namespace mapsim
