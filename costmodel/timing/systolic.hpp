// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "arch/timing.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

// One tile of the stationary tensor in the array. In cycles; docs/systolic.md.
struct Fold {
  std::int64_t steps = 0;  // t: operations of the first instance, at the issue interval
  std::int64_t load = 0;   // shifting the tile in, before the first operation; sums: if they resume
  std::int64_t drain = 0;  // shifting it out, if it is the output
  std::int64_t skew =
      0;  // from the first operand that enters to the last sum that leaves, beyond t
  std::int64_t held = 0;  // elements of the stationary tensor, over used instances
  friend bool operator==(const Fold&, const Fold&) = default;
};

// A fold of `steps` cycles on an array of `rows` x `columns`, with `points` of the stationary
// tensor per instance (0: nothing stays). Operands are shifted in, sums are shifted out. Resumed
// sums (partial ones that have left before) are first shifted in.
enum class Stays : std::uint8_t { kOperand, kSums, kResumedSums };
Fold make_fold(std::int64_t steps, std::int64_t rows, std::int64_t columns, std::int64_t points,
               Stays stays);

// Folds one after the other, from the first operation of the first to that of the last. A monoid:
// loops over equal folds are powers of it, so nothing is walked.
struct FoldSequence {
  Fold first, last;
  std::int64_t count = 0;
  std::int64_t interval = 0;    // first operation of the first fold to first operation of the last
  std::int64_t steps = 0;       // of all folds
  std::int64_t load = 0;        // of all folds
  std::int64_t shown_load = 0;  // as far as it is visible in the intervals
  std::int64_t held = 0;        // of all folds
  friend bool operator==(const FoldSequence&, const FoldSequence&) = default;
};
FoldSequence sequence_of(const Fold& fold);
FoldSequence join(const SystolicTiming& timing, const FoldSequence& a, const FoldSequence& b);
FoldSequence repeat(const SystolicTiming& timing, const FoldSequence& a, std::int64_t times);

// Padding by `whole_tiles` per tensor above the array; empty: none. With perfect factors all folds
// are equally full, padded from the used instances to the whole array.
PerTensor<TilePadding> paddings(const Problem& problem, const SystolicTiming& timing,
                                const Nest& nest);
// Does `whole_tiles` pad the tensor?
bool is_padded(const Problem& problem, const SystolicTiming& timing, TensorId tensor);

// Their time, with the first load and the last wave.
ComputeTime time_of(const FoldSequence& folds);

// The rule for an array: one tensor stays in it, and each other tensor moves along an axis of its
// own. On that axis all instances need the same elements, and the fanout passes them on (multicast;
// for sums spatial_reduction). An axis with one used instance carries anything.
Obstacle obstacle_if_stays(const Problem& problem, const SystolicTiming& timing,
                           const ArrayUse& use, TensorId stays);
// The tensors with which there is no obstacle.
TensorSet may_stay(const Problem& problem, const SystolicTiming& timing, const ArrayUse& use);
// The smallest obstacle over all tensors; 1 is added for a tensor that is not in the array.
Obstacle obstacle_of(const Problem& problem, const SystolicTiming& timing, const Nest& nest);

// Tensors in the array that can stay while it runs the others.
PerTensor<std::optional<Stationary>> stationary_candidates(const Problem& problem,
                                                           const SystolicTiming& timing,
                                                           const Nest& nest);

// `compat: scalesim`: SCALE-Sim prints the number of the last cycle, so it omits one cycle.
inline std::int64_t slip(const SystolicTiming& timing) { return timing.scalesim ? 1 : 0; }

// The stationary tensor is the candidate with the least time (among equals, the one exchanged least
// often, then the first); the other tensors move with the waves.
ComputeTime systolic_time(const Problem& problem, const SystolicTiming& timing, const Nest& nest);

const TimingModel& model_of(const SystolicTiming&);

}  // namespace mapsim
