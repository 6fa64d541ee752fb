// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/counts.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/sparse/model.hpp"
#include "costmodel/sparse/sparse_counts.hpp"

namespace mapsim {

// What the dense counts of a nest become in a machine that knows of zeros (docs/sparsity.md), in
// closed form. First what tiles take of capacities, then the rest. Throws ConfigError where it is
// not known: partial tiles in a format that is not proportional, or under a condition.
void hold_tiles(const Problem& problem, const Nest& nest, const Counts& counts,
                SparseCounts& sparse);
void count_sparse(const Problem& problem, const Nest& nest, const Counts& counts,
                  SparseCounts& sparse);

// Whether a level from `from` inward stores metadata of the leader's zeros, or the leader has none;
// if not, only the compute units detect them.
bool is_stated(const SparseModel& model, LevelId from, TensorId leader);

}  // namespace mapsim
