// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// A mapping of which none is better in both figures.
struct FrontPoint {
  double value = 0;          // what is minimised
  std::int64_t measure = 0;  // what it is weighed against: cycles, or bits of capacity
  Mapping mapping;
  Cost cost;
  Form form{};  // of the workload that it is a mapping of: of an engine after NVDLA it may vary
};

// All of them: value ascending, measure descending. Values that differ by no more than kRounding
// count as equal.
struct Front {
  std::vector<FrontPoint> points;
  // Proven: no mapping of the space lies below the points. Else it was stopped early, and the
  // points are those that were found.
  bool complete = false;
  // Imperfect factors, complete: of mappings with an extent at which nothing stands not all were
  // looked at, and the proof is about the others (decision 18).
  bool but_for_bare = false;
  bool schedules = false;  // of an engine, in all its forms of the layer; not of nests
  std::string mapspace_size;
  Statistics statistics;
  InfeasibleReport infeasible;  // filled when it is complete and empty
};

// The workload that a point is a mapping of.
Workload workload_of(const Problem& problem, const FrontPoint& point);

// The energy/latency front of a space: value in pJ, measure in cycles of the objective's mode,
// within its limits; its powers are not looked at. Of an engine after NVDLA: of its schedules. One
// search: spatial unrollings share the points that were found. The same on any number of threads.
// `trial_labels`: as ClassSearch has them.
Front search_front(const Mapspace& space, const SearchOptions& options,
                   std::int64_t trial_labels = 2'000);

// A capacity in question: that of a level, or the partition of a role.
struct CurveCapacity {
  LevelId level{};
  std::optional<Role> role;
};

// The optimum of the objective as a function of a capacity, all else equal (its energies
// too): with a capacity from a point's measure [bits] up to that of the point before it, the
// optimum is the point's value; with less than the last, nothing fits. One search for all of it.
// The capacity must be one that the level's way of sharing has, or the level be unlimited.
Front search_curve(const Mapspace& space, const SearchOptions& options, const CurveCapacity& curve);

}  // namespace mapsim
