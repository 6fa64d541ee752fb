// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "core/units.hpp"

namespace mapsim {

class Problem;

// A resource that takes time: the compute units, or a port of a level. A link lies between a level
// and its parent: fills and drains pass it, accesses of the level's children do not.
enum class PortKind : std::uint8_t { kCompute, kRead, kWrite, kShared, kLink };
inline constexpr std::array kPorts{PortKind::kRead, PortKind::kWrite, PortKind::kShared,
                                   PortKind::kLink};
const std::optional<BitsPerCycle>& rate_of(const Bandwidth& bandwidth, PortKind port);

// How the ports of a level enter the ramped latency: docs/model.md#latency.
struct Overlap {
  std::array<bool, 1 + kPorts.size()> hidden{};  // by PortKind: behind compute
  // Levels of one depth keep different tensors, so none passes data to another, and their visible
  // times overlap. A level has its parent's depth or the next one.
  std::size_t depth = 0;
  bool hides(PortKind port) const { return hidden[static_cast<std::size_t>(port)]; }
};
// The ramped latency: the compute units, with first fills and last drains, overlap with hidden
// ports. The busiest port of each depth that is not hidden is added. `Time`: Cycles or a plain
// number.
template <class Time>
class RampedLatency {
 public:
  explicit RampedLatency(Time compute_and_edges) : hidden_{compute_and_edges} {}
  // The ports, those of outer levels first.
  void add(const Overlap& overlap, PortKind port, Time time) {
    if (overlap.hides(port)) {
      hidden_ = std::max(hidden_, time);
      return;
    }
    if (overlap.depth != depth_) {
      shown_ += busiest_;
      busiest_ = Time{};
      depth_ = overlap.depth;
    }
    busiest_ = std::max(busiest_, time);
  }
  Time total() const { return hidden_ + shown_ + busiest_; }

 private:
  Time hidden_;
  Time shown_{};  // of the depths before this one
  Time busiest_{};
  std::size_t depth_ = 0;
};
// Reads `arch`, `workload` and may_keep() of the problem.
PerLevel<Overlap> overlaps_of(const Problem& problem);

// The rate at which the first tile of an operand is filled, or the last one of the output drained:
// that of the slowest port on its way. nullopt if no port is limited, if the slowest one does not
// overlap (all its traffic is counted already), or if the tile enters or leaves the array of a
// timing model, whose time includes it.
std::optional<BitsPerCycle> edge_rate(const Problem& problem, LevelId parent, LevelId child,
                                      bool output);

}  // namespace mapsim
