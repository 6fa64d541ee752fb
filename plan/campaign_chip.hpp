// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>

#include "campaign/chip.hpp"
#include "core/edit_distance.hpp"

namespace mapsim {

// What reads chips of campaigns and plans networks on them (docs/decisions/0086): latency and
// energy of a frame whose groups run one after the other, and throughput of a stream of frames.
// `configs`: where engines of chips may be shipped. `bytes`: memory of each search; none: a share
// of what searches may take, since points are computed side by side.
ReadChip chip_reader(const Words& configs, std::optional<std::size_t> bytes = {});

}  // namespace mapsim
