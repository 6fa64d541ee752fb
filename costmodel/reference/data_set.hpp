// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/reference/simulate.hpp"
#include "costmodel/sparse/sparse_counts.hpp"

namespace mapsim {

// Operands with zeros where the workload has them: of data the places that are given, of other
// densities one data set, drawn by the seed. No other value is zero. What the output has says which
// of its elements a format takes for nonzero.
PerTensor<DenseTensor> operands_with_zeros(const Workload& workload, std::uint64_t seed);

// Is every place of a zero given? Then a run counts what the closed form does; else the closed form
// is a mean over runs.
bool has_known_zeros(const Workload& workload);

// A figure of the closed form beside that of a run. "GLB I read, skipped".
struct ZeroCount {
  std::string name;
  double expected = 0, simulated = 0;
  bool agrees() const;
};
// Totals of all that is made, gated and skipped, format bits, and steps of the busiest instance;
// without those that are 0 in both. Of a machine that knows of zeros.
std::vector<ZeroCount> zero_counts(const Problem& problem, const Mapping& mapping, const Cost& cost,
                                   const Simulation& simulation);

}  // namespace mapsim
