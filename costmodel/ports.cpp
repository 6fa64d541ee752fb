// SPDX-License-Identifier: Apache-2.0
#include "costmodel/ports.hpp"

#include "arch/timing/array.hpp"
#include "costmodel/accesses.hpp"
#include "costmodel/problem.hpp"

namespace mapsim {

namespace {

// Does all that the level hands down hide? Wherever a tensor may be kept next, there is room for
// the tile after, or the array's own time contains it; the compute units take what they need when
// they need it.
bool serves_hidden(const Problem& problem, LevelId level) {
  const Arch& arch = problem.arch();
  for (const TensorId t : problem.workload().tensors.ids()) {
    bool below = problem.may_keep(level, t);
    for (auto i = index_of(level) + 1; i < arch.levels.size() && below; ++i) {
      const auto child = static_cast<LevelId>(i);
      if (problem.may_keep(child, t)) {
        if (!arch.levels[child].hides() && !is_in_array(arch, child)) {
          return false;
        }
        below = !problem.must_keep(child, t);
      }
    }
  }
  return true;
}

Overlap overlap_of(const Problem& problem, LevelId level) {
  const bool itself = problem.arch().levels[level].hides();
  const bool outermost = level == LevelId{0};
  const bool below = serves_hidden(problem, level);
  const bool drains = !outermost && problem.may_keep(level, problem.workload().output());
  Overlap overlap;
  const auto set = [&](PortKind port, bool hides) {
    overlap.hidden[static_cast<std::size_t>(port)] = itself || hides;
  };
  set(PortKind::kCompute, true);
  set(PortKind::kRead, below && !drains);
  set(PortKind::kWrite, below && outermost);
  set(PortKind::kShared, below && outermost);
  set(PortKind::kLink, false);
  return overlap;
}

}  // namespace

const std::optional<BitsPerCycle>& rate_of(const Bandwidth& bandwidth, PortKind port) {
  switch (port) {
    case PortKind::kRead:
      return bandwidth.read;
    case PortKind::kWrite:
      return bandwidth.write;
    case PortKind::kLink:
      return bandwidth.link;
    default:
      return bandwidth.shared;
  }
}

PerLevel<Overlap> overlaps_of(const Problem& problem) {
  PerLevel<Overlap> overlaps;
  TensorSet taken;  // by the levels of the depth
  std::size_t depth = 0;
  for (const LevelId l : problem.arch().levels.ids()) {
    TensorSet here;
    for (const TensorId t : problem.workload().tensors.ids()) {
      if (problem.may_keep(l, t)) {
        here.insert(t);
      }
    }
    if (!(here & taken).empty()) {
      ++depth;
      taken = TensorSet{};
    }
    taken = taken | here;
    Overlap overlap = overlap_of(problem, l);
    overlap.depth = depth;
    overlaps.push_back(overlap);
  }
  return overlaps;
}

std::optional<BitsPerCycle> edge_rate(const Problem& problem, LevelId parent, LevelId child,
                                      bool output) {
  const Arch& arch = problem.arch();
  if (is_in_array(arch, child) && !is_in_array(arch, parent)) {
    return std::nullopt;
  }
  std::optional<BitsPerCycle> slowest;
  bool hides = true;
  for (const bool at_parent : {!output, output}) {  // where the tile comes from, where it goes to
    const LevelId level = at_parent ? parent : child;
    for (const PortKind port : kPorts) {
      const std::optional<BitsPerCycle>& rate = rate_of(arch.levels[level].bandwidth, port);
      if (rate && passes(crossing_access(at_parent, output), port) &&
          (!slowest || *rate < *slowest)) {
        slowest = rate;
        hides = problem.overlap(level).hides(port);
      }
    }
  }
  return hides ? slowest : std::nullopt;
}

}  // namespace mapsim
