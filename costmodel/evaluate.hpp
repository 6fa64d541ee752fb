// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "core/units.hpp"
#include "costmodel/mapping.hpp"
#include "costmodel/problem.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Elements that cross the two sides of a level, design section 3. `reads` excludes read-backs and
// drains.
struct AccessCounts {
  std::int64_t reads = 0;      // to the child, operands
  std::int64_t fills = 0;      // from the parent
  std::int64_t updates = 0;    // partial or final sums coming up from the child
  std::int64_t readbacks = 0;  // partial sums going back down to the child
  std::int64_t drains = 0;     // sums going up to the parent
  friend bool operator==(const AccessCounts&, const AccessCounts&) = default;
};

// One tensor at one level.
struct TensorCounts {
  bool kept = false;
  std::int64_t footprint = 0;  // distinct elements of one instance's (largest) tile
  // Widths of an element: as stored, as it crosses to the child below (reads, updates, read-backs),
  // and as it crosses to the parent above (fills, drains). Operands: all the same. Sums:
  // docs/model.md.
  Bits bits{0};
  Bits down_bits{0};
  Bits up_bits{0};
  AccessCounts total;    // over all instances
  AccessCounts busiest;  // of the first instance, which is the busiest
  Bits read_bits{0};     // the busiest instance's traffic through its read port
  Bits write_bits{0};    // ... and through its write port
  friend bool operator==(const TensorCounts&, const TensorCounts&) = default;
};

// Everything that a mapping makes a machine do.
struct Counts {
  PerLevel<PerTensor<TensorCounts>> levels;
  PerFanout<std::int64_t> reductions;  // additions in the reduction network, total
  PerFanout<std::int64_t> used_x;      // instances used along X, of one parent instance
  PerFanout<std::int64_t> used_y;
  std::int64_t macs = 0;
  std::int64_t steps = 0;  // temporal steps of the first compute instance
  friend bool operator==(const Counts&, const Counts&) = default;
};

struct TensorEnergy {
  Picojoules read, write, update;  // read pays for reads, read-backs and drains
  Picojoules total;                // the three, added in this order
};

// total = (levels outermost first: tensors in order) + (fanouts outermost first) + compute +
// leakage, added in this order: the breakdown adds up to it exactly.
struct Energy {
  PerLevel<PerTensor<TensorEnergy>> levels;
  PerFanout<Picojoules> fanouts;
  Picojoules compute;
  Picojoules leakage{0};  // of all instances during the steady latency; evaluate() adds it
  Picojoules total;
};

// Something that takes time: the compute units, or a port of a level.
enum class PortKind : std::uint8_t { kCompute, kRead, kWrite, kShared };
struct Resource {
  PortKind kind = PortKind::kCompute;
  LevelId level{};         // meaningless for kCompute
  Cycles time{0};          // busy cycles of the busiest instance
  double utilization = 0;  // time / steady latency
};

// Latency, design section 4.
struct Latency {
  Cycles steady{0};  // max over resources: every transfer hides behind compute
  Cycles ramped{0};  // transfers of single-buffered levels, first fill and last drain show
  std::vector<Resource> resources;  // compute first, then ports, outermost level first
  std::size_t bottleneck = 0;       // index of the largest time (the first of equals)
};

struct Cost {
  Counts counts;
  Energy energy;
  Latency latency;
  double utilization = 0;  // MACs / (steady cycles x MAC units / issue interval)
  double edp() const {     // pJ x steady cycles
    return energy.total.count() * static_cast<double>(latency.steady.count());
  }
};

// A mapping that its machine cannot hold: a value, not an error.
struct CapacityExceeded {
  LevelId level{};
  std::optional<Role> partition;  // set when the level is partitioned per role
  Bits need{0};
  Bits have{0};
};
struct FanoutExceeded {
  FanoutId fanout{};
  Axis axis = Axis::kX;
  std::int64_t need = 0;
  std::int64_t have = 0;
};
using Infeasible = std::variant<CapacityExceeded, FanoutExceeded>;
using Evaluation = std::variant<Cost, Infeasible>;

// Counts of a structurally valid mapping by the closed form (docs/model.md). No capacity check.
Counts count(const Problem& problem, const Mapping& mapping);

// The first thing that does not fit, outermost first: fanout axes, then capacities.
std::optional<Infeasible> check_feasible(const Problem& problem, const Counts& counts);
// How far a mapping is from fitting: log2(need / have), summed over the axes and rooms exceeded; 0:
// it fits. Tells the worse of two that do not.
double excess(const Problem& problem, const Counts& counts);

Energy energy(const Problem& problem, const Counts& counts);  // but leakage, which takes time
Latency latency(const Problem& problem, const Counts& counts);

// All of the above. `mapping` must satisfy check_structure().
Evaluation evaluate(const Problem& problem, const Mapping& mapping);

// The same, for millions of mappings: holds what evaluations need, so that each allocates nothing.
class Evaluator {
 public:
  explicit Evaluator(const Problem& problem);  // outlives the evaluator
  ~Evaluator();
  // nullopt: it fits, and cost() is what it costs until the next call.
  std::optional<Infeasible> evaluate(const Mapping& mapping);
  const Cost& cost() const { return cost_; }
  // Of the last mapping if it does not fit: excess().
  double excess() const { return mapsim::excess(problem_, cost_.counts); }

 private:
  const Problem& problem_;
  std::unique_ptr<struct Nest> nest_;
  Cost cost_;
};

}  // namespace mapsim
