// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "campaign/chip.hpp"
#include "core/edit_distance.hpp"

namespace mapsim {

// What reads chips of campaigns and plans networks on them (docs/decisions/0086): latency and
// energy of a frame whose groups run one after the other, and throughput of a stream of frames.
// `configs`: where engines of chips may be shipped.
ReadChip chip_reader(const Words& configs);

}  // namespace mapsim
