// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "costmodel/mapping.hpp"
#include "workloads/chain.hpp"

namespace mapsim {

// Dense values of a tensor over its box of coordinates, row-major, rank by rank: rank r has
// 1 + sum coefficient * (bound - 1) coordinates. Points that the einsum never touches stay 0.
struct DenseTensor {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  friend bool operator==(const DenseTensor&, const DenseTensor&) = default;
};

// Small whole numbers, so that sums are exact in double whatever the order; from `seed`.
PerTensor<DenseTensor> random_operands(const Workload& workload, std::uint64_t seed);

// Operands of all einsums, intermediates left out: zeros.
std::vector<PerTensor<DenseTensor>> random_operands(const EinsumChain& chain, std::uint64_t seed);

struct Simulation {
  Counts counts;  // every field of the closed form's, found by walking
  // For a machine that exploits zeros: its counts, given the zeros of the operands and of the
  // output's values in `operands`. Capacities are not checked.
  std::optional<SparseCounts> sparse{};
  double busiest_steps = 0;  // there: until the last instance is done (docs/sparsity.md#time)
  bool stopped = false;      // before its end: the other members are not valid
  DenseTensor output;        // computed from values that were really in the innermost buffers
};

// The definition of a mapping's counts (docs/model.md#what-happens-step-by-step): walks the nest
// step by step, moves point sets between buffers, and multiplies what it finds there. Slow and
// obviously right; shares no counting code with count(). Throws SimulationFault when a value is
// missing where the nest needs it, which is a fault of the simulator itself. `max_steps` bounds the
// walk: std::length_error beyond it. A flag that is set stops it.
class SimulationFault : public std::logic_error {
  using std::logic_error::logic_error;
};
Simulation simulate(const Problem& problem, const Mapping& mapping,
                    const PerTensor<DenseTensor>& operands, std::int64_t max_steps,
                    const std::atomic<bool>* stop = nullptr);

}  // namespace mapsim
