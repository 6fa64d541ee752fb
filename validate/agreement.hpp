// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/reference/simulate.hpp"
#include "workloads/chain.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A count and its name for people: "GLB I fills", "GLB I fills (busiest instance)", "steps".
struct NamedCount {
  std::string name;
  std::int64_t value = 0;
};
// All counts in a fixed order; a tensor has none at a level that it bypasses.
std::vector<NamedCount> list_counts(const Arch& arch, const Workload& workload,
                                    const Counts& counts);

// A count that two ways of counting disagree on.
struct CountDifference {
  std::string name;
  std::int64_t model = 0;      // the closed form
  std::int64_t simulated = 0;  // the simulation
};
// The outcome of comparing all counts of a mapping.
struct Agreement {
  std::int64_t compared = 0;
  std::vector<CountDifference> differences;
};
// Compares the counts of the model with those of a simulation of the same mapping.
Agreement compare_counts(const Arch& arch, const Workload& workload, const Counts& model,
                         const Counts& simulated);

// The outputs of the workload, computed by plain loops in the order of its dims, without a mapping.
// A simulation must find the same numbers.
DenseTensor plain_loops(const Workload& workload, const PerTensor<DenseTensor>& operands);

// The same for each einsum of a chain in turn. Intermediates among the operands are computed, and
// their given values are ignored.
std::vector<DenseTensor> plain_loops(const EinsumChain& chain,
                                     const std::vector<PerTensor<DenseTensor>>& operands);

// Number of elements that differ; both have the same shape. Exact, as operands are small integers.
std::int64_t count_wrong(const DenseTensor& expected, const DenseTensor& actual);

}  // namespace mapsim
