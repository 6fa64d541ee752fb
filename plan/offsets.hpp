// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/buffers.hpp"

namespace mapsim {

// Offsets that fit in this number of bytes, by buffer; nullopt: none were found. `nodes`: how
// many nodes were searched; `proven`: there are no such offsets.
struct OffsetSearch {
  std::optional<std::vector<std::int64_t>> offsets{};
  bool proven = false;
  std::size_t nodes = 0;
};

// Branch and bound over canonical offsets (Moffitt, MiniMalloc, ASPLOS 2023): every buffer lies on
// another one, or at 0, and buffers are placed in the order of their offsets. So nothing lies below
// the offset of the last one any more: where the lowest place that is left in a moment, and all
// that is still to be placed there, are more than the capacity, nothing is left to find. Buffers
// that no moment joins are searched apart, each group with equal offsets in an order of its own.
// Three such orders are tried in turn, each with a budget that grows.
OffsetSearch find_offsets(const std::vector<Buffer>& buffers, std::int64_t capacity,
                          std::size_t most_nodes);

}  // namespace mapsim
