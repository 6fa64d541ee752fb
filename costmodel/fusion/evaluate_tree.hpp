// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "costmodel/fusion/lines.hpp"
#include "costmodel/fusion/tree.hpp"

namespace mapsim {

// The counts of an intermediate, in elements.
struct IntermediateCounts {
  std::int64_t made = 0;  // over the run: more than it has where halos are recomputed
  LiveSet held;           // at the level of its scope
  friend bool operator==(const IntermediateCounts&, const IntermediateCounts&) = default;
};

// The counts of a tree, per einsum, including its tensors in keeps of groups. An
// intermediate's outermost level is that of its scope; its footprint there is its live
// set.
struct TreeCounts {
  std::vector<Counts> einsums;
  std::vector<IntermediateCounts> intermediates;
  friend bool operator==(const TreeCounts&, const TreeCounts&) = default;
};

// By the closed form (docs/model.md#fused-mappings): products over lines. `tree` satisfies
// check_tree(). No capacity check.
TreeCounts count_tree(const Arch& arch, const EinsumChain& chain, const MappingTree& tree);

// The initial counts of an einsum: all zero, with one instance of everything in use.
Counts empty_counts(const Arch& arch, const Workload& workload);

// Adds the counts of a branch, over all its boxes, to those of its einsum in groups. `around`:
// levels that keep the tensors around the branch; their tiles do not belong to it.
void add_branch(const Counts& branch, const PerTensor<LevelId>& around, Counts& counts);

// Widths and port traffic of one einsum, from its accesses. `distinct`: points of its output that
// are made, each once.
void finish_counts(const Workload& workload, std::int64_t distinct, Counts& counts);

// A tensor that occupies a level while an einsum runs.
struct Occupant {
  ChainTensor tensor;   // an intermediate in its scope: its producer's output
  bool scoped = false;  // a live set, or what is carried, not a tile
  std::int64_t elements = 0;
  Bits bits{0};
};
// One phase: an einsum runs. Rule F6: each occupant's maximum is taken by itself.
struct TreePhase {
  std::size_t einsum = 0;
  PerLevel<std::vector<Occupant>> levels;
  PerLevel<Bits> used;
};
std::vector<TreePhase> phases_of(const Arch& arch, const EinsumChain& chain,
                                 const MappingTree& tree, const TreeCounts& counts);

struct EinsumCost {
  Energy energy;    // like a mapping's, of the einsum's own accesses
  Latency latency;  // rule F7: the slowest of compute and ports
};

struct TreeCost {
  TreeCounts counts;
  std::vector<EinsumCost> einsums;
  std::vector<TreePhase> phases;    // in the order in which the branches run
  std::vector<Picojoules> passing;  // per intermediate: of all accesses to it
  Picojoules energy{0};             // sum over einsums
  Cycles latency{0};                // sum over einsums
  double edp() const { return energy.count() * static_cast<double>(latency.count()); }
};

// A phase that a level cannot hold.
struct PhaseExceeded {
  std::size_t einsum = 0;
  CapacityExceeded capacity;
};

// Why trees cannot be costed on a machine yet (empty: they can): timing models of arrays and
// engines.
std::string tree_obstacle(const Arch& arch);

// All of the above. `tree` satisfies check_tree(), the machine has no tree_obstacle().
std::variant<TreeCost, PhaseExceeded> evaluate_tree(const Arch& arch, const EinsumChain& chain,
                                                    const MappingTree& tree);

}  // namespace mapsim
