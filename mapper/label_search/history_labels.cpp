// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/history_labels.hpp"

namespace mapsim::imperfect {

namespace {

bool are_alike(const Label& a, const Label& b) {
  return a.step.node.tile == b.step.node.tile && a.step.node.residency == b.step.node.residency &&
         a.step.node.stage == b.step.node.stage && a.region_start == b.region_start &&
         a.loops == b.loops;
}

}  // namespace

std::uint64_t hash_of(const Label& label) {
  std::uint64_t hash = label.step.node.tile;
  const auto mix = [&hash](std::uint64_t x) {
    hash = (hash ^ x) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  };
  mix(label.step.node.stage);
  mix(label.step.node.residency);
  mix(label.region_start);
  for (const LoopChains::Id id : label.loops) {
    mix(id);
  }
  return hash;
}

bool may_dominate(const Label& a, const Label& b) {
  const auto within = [](DimSet inner, DimSet outer) { return (inner & outer) == inner; };
  return (a.deferred == 0 || a.deferred == b.deferred) &&
         (b.slide == SlidingLoop::kNone || b.slide == a.slide) &&
         within(a.no_loop_next, b.no_loop_next) &&
         within(a.no_loop_in_region, b.no_loop_in_region) && within(a.open_loops, b.open_loops) &&
         within(a.loops_since_keep, b.loops_since_keep) && (!b.at_point || a.at_point) &&
         (!b.kept_since_loop || a.kept_since_loop) && a.next_dim <= b.next_dim &&
         a.steps <= b.steps && are_alike(a, b);
}

}  // namespace mapsim::imperfect
