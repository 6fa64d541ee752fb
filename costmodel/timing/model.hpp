// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/counts.hpp"
#include "costmodel/timing/array.hpp"
#include "costmodel/timing/compute_time.hpp"

namespace mapsim {

// Whole cycles of an expected number, up to rounding error.
double whole_cycles(double cycles);

// May a fold of an array be a partial one, where the instances divide no bound? kFloor: yes, but
// such folds take less time than whole ones, so that only least_cycles() bounds them; kTime: all
// folds take the time of a whole one.
enum class PartialFolds : std::uint8_t { kNone, kFloor, kTime };

// What a level of limited size holds at most.
struct Partition {
  std::optional<Role> role;  // none: of all tensors
  Bits have{0};
};

// The defaults of a model: steps run one after the other.
namespace plain {
std::vector<std::string> facts(const Arch& arch);
ComputeTime time(const Problem& problem, const Nest& nest, std::int64_t steps);
double cycles_of_steps(const Problem& problem, double cycles);
PerTensor<TilePadding> paddings(const Problem& problem, const Nest& nest, const Counts& counts);
bool pads(const Arch& arch, LevelId level);
void bind(Arch& arch, const Workload& workload);
Bits need(const Problem& problem, LevelId level, const PerTensor<TensorCounts>& counts,
          std::optional<Role> role);
std::vector<Partition> partitions(const Arch& arch, LevelId level);
Padding padding(const Problem& problem, std::int64_t used, TensorId tensor);
PartialFolds partial_folds(const Arch& arch);
}  // namespace plain

// A model whose time depends on the tensor that stays in an array. If several tensors are in the
// array, the one with the least time counts. These are all functions that a search uses; it knows
// places of tensors, but no nest yet. All functions take a problem whose machine has the model.
struct ArrayModel {
  // Tensors that may stay with this unrolling; every nest that keeps one of them in the array runs,
  // and no other.
  TensorSet (*may_stay)(const Problem& problem, const ArrayUse& use);
  // The reason why a nest cannot run.
  Obstacle (*obstacle)(const Problem& problem, const Nest& nest);
  // Time of a perfect nest [cycles]. Without a stationary tensor: no more than any nest's. Never
  // falls with more folds, fewer fresh folds, or more points.
  double (*cycles)(const Problem& problem, const ArraySize& used, const EqualFolds& folds);
  // No nest with these temporal bounds takes less [cycles], whichever of `may_stay` stays in it.
  double (*least_cycles)(const Problem& problem, const ArraySize& used,
                         const PerDim<std::int64_t>& bounds, TensorSet may_stay);
  // Padding of a tensor above the array with `used` instances in use. Perfect nests.
  Padding (*padding)(const Problem& problem, std::int64_t used, TensorId tensor) = plain::padding;
  PartialFolds (*partial_folds)(const Arch& arch) = plain::partial_folds;
  // Does it matter which axis takes which instances?
  bool axes_matter = false;
};

// The interface of a timing model to the rest of the program (docs/decisions/0061-timing-seam.md).
// Each model has one such table, next to its functions; only models.cpp names models.
struct TimingModel {
  // Description, in messages and reports.
  const char* machine = "machine";    // "systolic array"
  const char* machines = "machines";  // "systolic arrays"
  const char* word = "";              // "systolic": how its array works
  const char* fold = "fold";          // what ComputeTime::folds counts
  const char* folds = "folds";
  const char* skew = "skew";  // what ComputeTime::skew is here
  bool has_dataflow = false;  // is "weight-stationary" a word for its mappings?
  bool hands_on = false;      // do operands move from neighbour to neighbour?
  std::vector<std::string> (*facts)(const Arch& arch) = plain::facts;  // for its picture

  // Time of a nest; `steps` are those of the first instance.
  ComputeTime (*time)(const Problem& problem, const Nest& nest, std::int64_t steps) = plain::time;
  // A lower bound over nests [cycles], given one instance's steps at the issue interval in cycles.
  // Without an array model it is the time of every perfect nest.
  double (*cycles_of_steps)(const Problem& problem, double cycles) = plain::cycles_of_steps;
  // Per tensor, the padding of its tiles at levels that pad; empty: no tensor is padded. `counts`:
  // those of the nest.
  PerTensor<TilePadding> (*paddings)(const Problem& problem, const Nest& nest,
                                     const Counts& counts) = plain::paddings;
  bool (*pads)(const Arch& arch, LevelId level) = plain::pads;

  // Legality. `bind`: the machine for the widths of a workload; throws ConfigError. `need`: bits
  // that tiles take of a level, all or those of one role. `partitions`: limits of a level besides
  // its capacity.
  void (*bind)(Arch& arch, const Workload& workload) = plain::bind;
  Bits (*need)(const Problem& problem, LevelId level, const PerTensor<TensorCounts>& counts,
               std::optional<Role> role) = plain::need;
  std::vector<Partition> (*partitions)(const Arch& arch, LevelId level) = plain::partitions;

  // At most one of the following.
  const ArrayModel* array = nullptr;  // what stays in an array decides the time
  bool is_engine = false;  // runs schedules of its own and no other nests: costmodel/nvdla/
};

const TimingModel& timing_model(const Arch& arch);

// Does a search by latency try folds of an array that leave a remainder?
bool may_leave_remainders(const Arch& arch);

// ArrayModel::padding of a tensor at a level, given the used instances of the array; no padding
// below the array, or without one.
Padding padding_at(const Problem& problem, LevelId level, TensorId tensor, std::int64_t used);

}  // namespace mapsim
