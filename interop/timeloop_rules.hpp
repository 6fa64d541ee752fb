// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "core/index.hpp"

namespace mapsim {

// The points in which Timeloop counts otherwise than mapsim. A count can be made with any set of
// these rules, from none (mapsim's counts) to all (Timeloop's).
enum class TimeloopRule : std::uint8_t {
  kBoxHull,          // holes of a strided window count as points
  kDirection,        // overlap with the tile before is lost when the vector of motion changes, and
                     // kept across loops as long as it does not
  kExtrapolation,    // iteration 1 stands for all except the first
  kWholeDelta,       // instances share a fetch only if all of its points are equal
  kNeighbourLinks,   // ... or get it from a neighbour that fetched it one step earlier
  kUniform,          // every instance moves like the first one, partial or not
  kMasking,          // a bypassed level passes its traffic on, scaled by its multicast
  kAverageShare,     // an instance's fills are the average of what all instances receive
  kPartition,        // first visits: a share of the tensor, rounded down level by level
  kRoundedAverages,  // averages per instance are rounded
  kVectorAccess,     // each instance pays whole vector accesses
  kInstances,        // the average number of instances in use is rounded down
  kUnscaledHops,     // words that a bypassed level passes on are scaled, their hops are not
  kOneWay,           // sums that are read back take no network
  kPackedPlaces,     // instances are numbered as wide as the mapping, placed as wide as the mesh
  kNominalCycles,    // partial loops take as long as whole ones
  kFloatCycles,      // cycles are rounded up after a division in floating point
  kWholeClusters,    // instances in use are spread over as many clusters, and each pays whole
  kRest,             // after a loop that leaves a tile as it is, the next one is fetched whole.
                     // Inferred from results before January 2025 (commit a12fff5)
  kFirstFills,       // sums are also filled at their first visit. Inferred from results that
                     // baseline-designs publishes, of 2021 and before
  kOneEnergy,        // an access of a storage costs the largest of its energies. This and the next
                     // rule were inferred from results of 2020
  kClusterPaysOnce   // a cluster in use pays for one instance, however many of it work
};
inline constexpr std::size_t kTimeloopRules = 22;
using TimeloopRules = IdSet<TimeloopRule>;
// The rules up to `last`. Below: those of Timeloop of 2020, of 2021, before January 2025, and
// since.
constexpr TimeloopRules timeloop_rules_to(TimeloopRule last) {
  return TimeloopRules::from_bits((2U << static_cast<unsigned>(last)) - 1);
}
inline constexpr TimeloopRules kTimeloopRulesOf2020 =
    timeloop_rules_to(TimeloopRule::kClusterPaysOnce);
inline constexpr TimeloopRules kTimeloopRulesOf2021 = timeloop_rules_to(TimeloopRule::kFirstFills);
inline constexpr TimeloopRules kTimeloopRulesOf2024 = timeloop_rules_to(TimeloopRule::kRest);
inline constexpr TimeloopRules kAllTimeloopRules = timeloop_rules_to(TimeloopRule::kWholeClusters);

const char* to_string(TimeloopRule rule);  // "box hull", ...

}  // namespace mapsim
