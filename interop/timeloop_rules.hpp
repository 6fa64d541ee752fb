// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "core/index.hpp"

namespace mapsim {

// Where Timeloop counts otherwise than we do, one by one. Each rule stands alone: a count can be
// made with any set of them, from none (our own counts) to all (Timeloop's).
enum class TimeloopRule : std::uint8_t {
  kBoxHull,          // holes of a strided window are points
  kDirection,        // overlap with the tile before is lost when the vector of motion changes, and
                     // kept across loops as long as it does not
  kExtrapolation,    // iteration 1 stands for all but the first
  kWholeDelta,       // instances share what they fetch only if all of it is equal
  kNeighbourLinks,   // ... or get it from a neighbour that fetched it the step before
  kUniform,          // every instance moves as the first one does, partial or not
  kMasking,          // a bypassed level passes its traffic on, scaled by its multicast
  kAverageShare,     // an instance is filled with the average of what all are sent
  kPartition,        // first visits: a share of the tensor, rounded down level by level
  kRoundedAverages,  // averages per instance are rounded
  kVectorAccess,     // a vector access is paid whole, per instance
  kInstances,        // the average number of instances in use is rounded down
  kUnscaledHops,     // what a bypassed level passes on is scaled, its hops are not
  kOneWay,           // sums that come down again take no network
  kPackedPlaces,     // instances are numbered as wide as the mapping, placed as wide as the mesh
  kNominalCycles,    // partial loops take as long as whole ones
  kFloatCycles,      // cycles are rounded up after a division in floating point
  kWholeClusters,    // instances in use are spread over as many clusters, each paid whole
  kRest,             // a tile that rests ends a motion: what moves next is fetched whole. Inferred
                     // from results that are older than January 2025 (commit a12fff5)
  kFirstFills,       // sums are filled at their first visit, too. Inferred from the results that
                     // baseline-designs publishes, of 2021 and before
  kOneEnergy,        // an access of a storage costs the largest of its energies. This and the next
                     // one were inferred from results of 2020
  kClusterPaysOnce   // a cluster in use pays for one instance, however many work
};
inline constexpr std::size_t kTimeloopRules = 22;
using TimeloopRules = IdSet<TimeloopRule>;
// Those up to a rule: of Timeloop of 2020, of 2021, before January 2025, and since.
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
