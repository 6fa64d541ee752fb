// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "core/units.hpp"

namespace mapsim {

class Problem;

// What takes time: the compute units, or a port of a level. A link lies between a level and its
// parent: what is filled and drained passes it, what the level serves does not.
enum class PortKind : std::uint8_t { kCompute, kRead, kWrite, kShared, kLink };
inline constexpr std::array kPorts{PortKind::kRead, PortKind::kWrite, PortKind::kShared,
                                   PortKind::kLink};
const std::optional<BitsPerCycle>& rate_of(const Bandwidth& bandwidth, PortKind port);

// How the ports of a level enter the ramped latency: docs/model.md#latency.
struct Overlap {
  std::array<bool, 1 + kPorts.size()> hidden{};  // by PortKind: behind compute
  // Levels of one storey keep different tensors, and so none hands anything to another: what they
  // show, they show side by side.
  std::size_t storey = 0;
  bool hides(PortKind port) const { return hidden[static_cast<std::size_t>(port)]; }
};
// Reads `arch`, `workload` and may_keep() of the problem.
PerLevel<Overlap> overlaps_of(const Problem& problem);

// The rate at which the first tile of an operand is filled, or the last one of the output drained:
// that of the slowest port that it passes. Nothing where none is limited; where the slowest is one
// that shows, so that all it moves has been counted; and where the tile enters or leaves the array
// of a timing model, whose time contains it.
std::optional<BitsPerCycle> edge_rate(const Problem& problem, LevelId parent, LevelId child,
                                      bool output);

}  // namespace mapsim
