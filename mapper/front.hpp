// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// A point of a Pareto front: no mapping is better in both figures.
struct FrontPoint {
  double value = 0;          // the figure that is minimised
  std::int64_t measure = 0;  // the second figure: cycles, or bits of capacity
  Mapping mapping;
  Cost cost;
  Form form{};  // of the workload that the mapping is for; NVDLA-like engines may choose it
};

// A front: values ascend, measures descend. Values that differ by at most kRounding are equal.
struct Front {
  std::vector<FrontPoint> points;
  // Proven: no mapping of the space lies below the points. Otherwise the search was stopped early,
  // and the points are those that it found.
  bool complete = false;
  // Imperfect factors, `complete`: mappings with a free tile boundary were not all searched, and
  // the proof is about the others (decision 18).
  bool but_for_free_boundaries = false;
  bool schedules = false;  // the points are schedules of an engine, in all its forms of the layer
  std::string mapspace_size;
  Statistics statistics;
  InfeasibleReport infeasible;  // filled if the front is complete and empty
};

// The workload that a point is a mapping of.
Workload workload_of(const Problem& problem, const FrontPoint& point);

// The energy/latency front of a space: value in pJ, measure in cycles of the objective's mode,
// within its limits. The objective's function is not used. For an NVDLA-like engine: the front of
// its schedules. One search finds all points; classes of unrollings share the points found so far.
// The result does not depend on the number of threads. `trial_labels`: see ClassSearchInputs.
Front search_front(const Mapspace& space, const SearchOptions& options,
                   std::int64_t trial_labels = 2'000);

// The capacity that a curve varies: that of a level, or its partition for a role.
struct CurveCapacity {
  LevelId level{};
  std::optional<Role> role;
};

// The optimum of the objective as a function of one capacity, all else equal, energies included. If
// the capacity is at least a point's measure [b], and less than that of the point before, the
// optimum is the point's value. With less than the last measure nothing fits. One search finds all
// points. The level must have that capacity or partition, or be unlimited.
Front search_curve(const Mapspace& space, const SearchOptions& options, const CurveCapacity& curve);

}  // namespace mapsim
