// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "arch/timing.hpp"
#include "costmodel/counts.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/timing/systolic.hpp"

namespace mapsim {

// An engine's features lie in memory and in the buffer with the channels of every pixel padded to
// whole words of the memory (nvdla/doc, "In-memory data formats", feature data: surfaces of atoms;
// MEMORY_ATOMIC_SIZE of the specs), and cross the memory's port so. Weights are packed, and so are
// the pixels of image input. What of each tensor moves for what is used; empty: nothing is padded.
// Counts stay those of elements; docs/nvdla.md#room.
PerTensor<Padding> feature_paddings(const Problem& problem);

// Does a level hold them padded: those outside of the buffer?
bool holds_padded_features(const Arch& arch, LevelId level);

// Bits that the tile of a tensor takes in the buffer, before they are rounded up to banks.
Bits buffer_tile(const PerTensor<Padding>& paddings, TensorId tensor, const TensorCounts& at);

}  // namespace mapsim
