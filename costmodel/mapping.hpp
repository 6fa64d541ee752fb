// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// keep LEVEL: tensors. Their tiles at this point of the nest live in the level. Tensors of one
// level may be kept at different points (an uneven mapping).
struct Keep {
  LevelId level{};
  TensorSet tensors;
  friend bool operator==(const Keep&, const Keep&) = default;
};

// for DIM: extent. A temporal loop that cuts the tile above into consecutive tiles of `extent`;
// it runs ceil(actual size / extent) times and its last tile may be partial.
struct Temporal {
  DimId dim{};
  std::int64_t extent = 1;
  friend bool operator==(const Temporal&, const Temporal&) = default;
};

// parallel DIM: extent over AXIS of FANOUT. Consecutive blocks of `extent` go to consecutive
// instances; ceil(nominal size / extent) instances are used along the axis.
struct Parallel {
  DimId dim{};
  std::int64_t extent = 1;
  FanoutId fanout{};
  Axis axis = Axis::kX;
  friend bool operator==(const Parallel&, const Parallel&) = default;
};

using MappingNode = std::variant<Keep, Temporal, Parallel>;

// A loop nest over a memory hierarchy, outermost node first. A plain value: structure is checked by
// check_structure(), feasibility by evaluate().
struct Mapping {
  std::vector<MappingNode> nodes;
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

// Why `mapping` is not a mapping of `workload` on `arch` at all (empty: it is one). Each problem
// names its node (nodes.size() = the end). The rules:
//  - the nest begins with the outermost level keeping every tensor;
//  - keeps of one tensor go strictly inwards; keeps above a fanout stand before its parallel nodes,
//    keeps below it after them; fanouts in order, the parallel nodes of one may be apart;
//  - extents go down to 1 in every dim, each at least 1 and at most the extent above;
//  - roles an architecture keeps or bypasses are kept or bypassed; a partitioned level keeps only
//    roles that have a partition;
//  - no keep of an empty set, no tensor kept twice at one level.
// Sizes against fanouts and capacities are feasibility, not structure.
struct StructureProblem {
  std::size_t node = 0;
  std::string what;
};
std::vector<StructureProblem> check_structure(const Arch& arch, const Workload& workload,
                                              const Mapping& mapping);

// The same mapping in canonical form: loops and parallels that do nothing (bound 1) dropped,
// adjacent loops over one dim joined, keeps of one level that stand together joined, and each group
// of adjacent keeps sorted by level. Counts are unchanged, except for joined loops over a sliding
// window or with extents that do not divide each other (7, 3, 2). These are *defined* as one loop
// (docs/model.md, rule 2), so evaluation canonicalises first.
Mapping canonical(const Workload& workload, const Mapping& mapping);

}  // namespace mapsim
