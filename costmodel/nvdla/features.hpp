// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "arch/timing.hpp"
#include "costmodel/counts.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/timing/array.hpp"

namespace mapsim {

// An engine's features lie in memory and in the buffer with the channels of every pixel padded to
// whole words of the memory (nvdla/doc, "In-memory data formats", feature data: surfaces of atoms;
// MEMORY_ATOMIC_SIZE of the specs), and cross the memory's port so. Weights are packed, and so are
// the pixels of image input. What of each tensor there is for what is used; empty: nothing is
// padded. Counts stay those of elements of the einsum; docs/nvdla.md#room.
PerTensor<Padding> feature_words(const Problem& problem);

// What of each tensor crosses the memory's port for what is counted there: words, and of the input
// no zeros of the layer's padding, which the engine adds on the way to the array, where it is
// fetched as a whole, once or several times (every schedule of mapper/nvdla/ does). `memory`:
// counts of the outermost level.
PerTensor<Padding> feature_paddings(const Problem& problem, const PerTensor<TensorCounts>& memory);

// Do zeros around a padded input move like pixels (docs/model.md#assumptions-and-limits)? All
// machines but engines have it so.
bool moves_zeros(const Arch& arch, const Workload& workload);

// Is a level one that features cross so, outside of the buffer?
bool holds_padded_features(const Arch& arch, LevelId level);

// Bits that the tile of a tensor takes in the buffer, before they are rounded up to banks: at most
// the tensor as it is stored. `words`: feature_words().
Bits buffer_tile(const Problem& problem, const PerTensor<Padding>& words, TensorId tensor,
                 const TensorCounts& at);

}  // namespace mapsim
