// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_rules.hpp"

namespace mapsim {

const char* to_string(TimeloopRule rule) {
  switch (rule) {
    case TimeloopRule::kBoxHull:
      return "box hull over holes";
    case TimeloopRule::kDirection:
      return "overlap by direction of motion";
    case TimeloopRule::kExtrapolation:
      return "extrapolation from iterations 0 and 1";
    case TimeloopRule::kWholeDelta:
      return "multicast of whole deltas only";
    case TimeloopRule::kNeighbourLinks:
      return "neighbour links";
    case TimeloopRule::kUniform:
      return "every instance moves as the first";
    case TimeloopRule::kMasking:
      return "bypass by scaling";
    case TimeloopRule::kAverageShare:
      return "fills shared out evenly";
    case TimeloopRule::kPartition:
      return "partition rounded down";
    case TimeloopRule::kRoundedAverages:
      return "averages rounded";
    case TimeloopRule::kVectorAccess:
      return "whole vector accesses";
    case TimeloopRule::kInstances:
      return "average instances rounded down";
    case TimeloopRule::kUnscaledHops:
      return "hops unscaled by bypass";
    case TimeloopRule::kOneWay:
      return "outputs pay one way";
    case TimeloopRule::kPackedPlaces:
      return "places packed across rows";
    case TimeloopRule::kNominalCycles:
      return "partial loops take whole time";
    case TimeloopRule::kFloatCycles:
      return "cycles in floating point";
    case TimeloopRule::kWholeClusters:
      return "clusters paid whole";
    case TimeloopRule::kRest:
      return "overlap lost after an irrelevant loop";
    case TimeloopRule::kFirstFills:
      return "first visits fill sums";
    case TimeloopRule::kOneEnergy:
      return "one energy of an access";
    case TimeloopRule::kClusterPaysOnce:
      return "a cluster pays once";
  }
  return "";
}

}  // namespace mapsim
