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
#include "costmodel/counts.hpp"
#include "costmodel/mapping.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/sparse/sparse_counts.hpp"
#include "costmodel/timing/compute_time.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

struct TensorEnergy {
  Picojoules read, write, update;  // read pays for reads, read-backs and drains
  Picojoules total;                // the three, added in this order
};

// total = (levels outermost first: tensors in order) + (fanouts outermost first: additions, then
// the hops of the tensors in order) + compute + leakage, added in this order: the breakdown adds up
// to it exactly.
struct Energy {
  PerLevel<PerTensor<TensorEnergy>> levels;
  PerFanout<Picojoules> fanouts;          // additions
  PerFanout<PerTensor<Picojoules>> hops;  // 0 where the fanout gives no energy per hop
  Picojoules compute;
  Picojoules leakage{0};  // of all instances during the steady latency; evaluate() adds it
  Picojoules total;
};

struct Resource {
  PortKind kind = PortKind::kCompute;
  LevelId level{};         // meaningless for kCompute
  Cycles time{0};          // busy cycles of the busiest instance
  double utilization = 0;  // time / steady latency
};

// Latency (docs/model.md#latency).
struct Latency {
  Cycles steady{0};  // max over resources: every transfer overlaps with compute
  Cycles ramped{0};  // transfers of single-buffered levels, first fill and last drain show
  std::vector<Resource> resources;  // compute first, then ports, outermost level first
  std::size_t bottleneck = 0;       // index of the largest time (the first of equals)
  ComputeTime compute;              // the compute units within the steady latency: busy, load, skew
  Cycles stall{0};                  // ... and waiting; the four add up to it
};

struct Cost {
  Counts counts;
  Energy energy;
  Latency latency;
  // For machines that exploit zeros: mean counts.
  std::shared_ptr<const SparseCounts> sparse;
  double utilization = 0;  // MACs / (steady cycles x MAC units / issue interval)
  double edp() const {     // pJ x steady cycles
    return energy.total.count() * static_cast<double>(latency.steady.count());
  }
};

// A mapping that does not fit its machine: a value, not an error.
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
// A nest that the array of a timing model cannot run: docs/systolic.md.
struct NotRunnable {
  FanoutId array{};
  std::optional<Role> stays;  // the role nearest to run among those that may stay; none: none may
  std::optional<Role> stuck;  // moves, but along no axis; none: two need the same one
};
using Infeasible = std::variant<CapacityExceeded, FanoutExceeded, NotRunnable>;
using Evaluation = std::variant<Cost, Infeasible>;

// Counts of a structurally valid mapping by the closed form (docs/model.md). No capacity check.
Counts count(const Problem& problem, const Mapping& mapping);

// The first constraint that is violated, outermost first: fanout axes, then capacities. Does not
// check whether an array can run the nest; evaluate() does.
std::optional<Infeasible> check_feasible(const Problem& problem, const Counts& counts,
                                         const SparseCounts* sparse = nullptr);
// How far a mapping is from fitting: log2(need / have), summed over the axes and capacities that
// are exceeded; 0: it fits. Ranks mappings that do not fit.
double excess(const Problem& problem, const Counts& counts, const SparseCounts* sparse = nullptr);

Energy energy(const Problem& problem, const Counts& counts);  // without leakage, which takes time
Latency latency(const Problem& problem, const Mapping& mapping, const Counts& counts);

// All of the above. `mapping` must satisfy check_structure().
Evaluation evaluate(const Problem& problem, const Mapping& mapping);

// The same for millions of mappings: reuses its memory, so that an evaluation allocates nothing.
class Evaluator {
 public:
  explicit Evaluator(const Problem& problem);    // outlives the evaluator
  explicit Evaluator(const Problem&&) = delete;  // a temporary would not
  ~Evaluator();
  // nullopt: it fits, and cost() is its cost until the next call.
  std::optional<Infeasible> evaluate(const Mapping& mapping);
  const Cost& cost() const { return cost_; }
  // excess() of the last mapping, plus its distance from a nest that an array can run.
  double excess() const;

 private:
  const Problem& problem_;
  std::unique_ptr<struct Nest> nest_;
  Cost cost_;
};

}  // namespace mapsim
