// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/reference/simulate.hpp"
#include "costmodel/sparse/sparse_counts.hpp"

namespace mapsim {

// Operands with the zeros of the workload: at the given places if they are data, otherwise at
// places drawn by the seed. No other value is zero. The values of the output say which of its
// elements a format stores as nonzero.
PerTensor<DenseTensor> operands_with_zeros(const Workload& workload, std::uint64_t seed);

// Are the places of all zeros given? Then a run has the counts of the closed form; otherwise the
// closed form is a mean over runs.
bool has_known_zeros(const Workload& workload);

// A figure of the closed form and of a run. "GLB I read, skipped".
struct ZeroCount {
  std::string name;
  double expected = 0, simulated = 0;
  bool agrees() const;
};
// Totals of made, gated and skipped actions, format bits, and steps of the busiest instance,
// without figures that are 0 in both. For machines that exploit zeros.
std::vector<ZeroCount> zero_counts(const Problem& problem, const Mapping& mapping, const Cost& cost,
                                   const Simulation& simulation);

}  // namespace mapsim
