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

// A count by its name, for people: "GLB I fills", "GLB I fills (busiest instance)", "steps".
struct NamedCount {
  std::string name;
  std::int64_t value = 0;
};
// Every count there is, in a fixed order; tensors that a level bypasses have none.
std::vector<NamedCount> list_counts(const Arch& arch, const Workload& workload,
                                    const Counts& counts);

struct CountDifference {
  std::string name;
  std::int64_t model = 0;      // the closed form
  std::int64_t simulated = 0;  // the walk
};
struct Agreement {
  std::int64_t compared = 0;
  std::vector<CountDifference> differences;
};
// Both sides must keep the same tensors, as two views of one mapping do.
Agreement compare_counts(const Arch& arch, const Workload& workload, const Counts& model,
                         const Counts& simulated);

// The workload as plain loops in the order of its dims, without any mapping: the numbers that a
// simulation must find.
DenseTensor plain_loops(const Workload& workload, const PerTensor<DenseTensor>& operands);

// The same for the outputs of a chain's einsums, one after the other; what the operands have of
// intermediates is not looked at.
std::vector<DenseTensor> plain_loops(const EinsumChain& chain,
                                     const std::vector<PerTensor<DenseTensor>>& operands);

// Number of elements that differ; both have one shape. Exact, as the operands are small integers.
std::int64_t count_wrong(const DenseTensor& expected, const DenseTensor& actual);

}  // namespace mapsim
