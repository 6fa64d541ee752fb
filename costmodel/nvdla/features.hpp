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
// MEMORY_ATOMIC_SIZE of the specs), and cross the memory's port so. Weights and pixels of image
// input are packed. Returns per tensor stored over used words; empty: no padding. Counts stay those
// of elements (docs/nvdla.md#capacity-of-the-buffer).
PerTensor<Padding> feature_words(const Problem& problem);

// Per tensor, the amount that crosses the memory's port per counted amount: words, without zeros of
// the layer's padding, which the engine adds on the way to the array. Zeros are only left out if
// the input is fetched as a whole, once or several times (as in every schedule of mapper/nvdla/).
// `memory`: counts of the outermost level.
PerTensor<Padding> feature_paddings(const Problem& problem, const PerTensor<TensorCounts>& memory);

// Do zeros around a padded input move like pixels (docs/model.md#assumptions-and-limits)? Yes on
// all machines but engines.
bool moves_zeros(const Arch& arch, const Workload& workload);

// Does the level hold features padded to words, outside of the buffer?
bool holds_padded_features(const Arch& arch, LevelId level);

// Bits of a tensor's tile in the buffer, before rounding up to banks: at most the stored tensor.
// `words`: feature_words().
Bits buffer_tile(const Problem& problem, const PerTensor<Padding>& words, TensorId tensor,
                 const TensorCounts& at);

}  // namespace mapsim
