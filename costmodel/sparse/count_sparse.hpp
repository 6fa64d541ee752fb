// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/counts.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/sparse/model.hpp"
#include "costmodel/sparse/sparse_counts.hpp"

namespace mapsim {

// Turns the dense counts of a nest into those of a machine that exploits zeros (docs/sparsity.md),
// in closed form: first the capacity that tiles take, then the rest. Throws ConfigError without a
// closed form: partial tiles in a format that is not proportional, or under a condition.
void hold_tiles(const Problem& problem, const Nest& nest, const Counts& counts,
                SparseCounts& sparse);
void count_sparse(const Problem& problem, const Nest& nest, const Counts& counts,
                  SparseCounts& sparse);

// Whether a level from `from` inward stores metadata of the leader's zeros, or the leader has none;
// if not, only the compute units detect them.
bool is_stated(const SparseModel& model, LevelId from, TensorId leader);

}  // namespace mapsim
