// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "arch/timing.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

// One tile of what stays, in the array. Cycles; docs/systolic.md.
struct Fold {
  std::int64_t steps = 0;  // t: operations of the first instance, at the issue interval
  std::int64_t load = 0;   // shifting the tile in, before the first operation; sums: if they resume
  std::int64_t drain = 0;  // shifting it out, if it is the output
  std::int64_t skew =
      0;  // from the first operand that enters to the last sum that leaves, beyond t
  std::int64_t held = 0;  // elements of what stays, of all instances in use
  friend bool operator==(const Fold&, const Fold&) = default;
};

// A fold of `steps` cycles on an array of which so many rows and columns count, with `points` of
// what stays in each instance (0: nothing stays). An operand is shifted in, sums are shifted out,
// and before that in if they are resumed: partial ones that have left before.
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
  std::int64_t shown_load = 0;  // as far as the intervals show it
  std::int64_t held = 0;        // of all folds
  friend bool operator==(const FoldSequence&, const FoldSequence&) = default;
};
FoldSequence sequence_of(const Fold& fold);
FoldSequence join(const SystolicTiming& timing, const FoldSequence& a, const FoldSequence& b);
FoldSequence repeat(const SystolicTiming& timing, const FoldSequence& a, std::int64_t times);

// Under `whole_tiles`, of each tensor above the array; of none where nothing is padded. Perfect
// factors: all folds are as full, with the array's instances for those that the unrolling uses.
PerTensor<TilePadding> paddings(const Problem& problem, const SystolicTiming& timing,
                                const Nest& nest);
// Does `whole_tiles` pad the tensor?
bool is_padded(const Problem& problem, const SystolicTiming& timing, TensorId tensor);

// What they take with the first load and the last wave.
ComputeTime time_of(const FoldSequence& folds);

// What an array can run: something stays in it, and every other tensor moves along an axis of its
// own, on which all instances want the same of it and the fanout can hand it on (multicast, sums:
// spatial_reduction). An axis on which one instance is in use carries anything.
Obstacle obstacle_if_stays(const Problem& problem, const SystolicTiming& timing,
                           const ArrayUse& use, TensorId stays);
// Tensors with which there is none.
TensorSet may_stay(const Problem& problem, const SystolicTiming& timing, const ArrayUse& use);
// Of the tensor that is nearest to run with; + 1 for one that is not in the array.
Obstacle obstacle_of(const Problem& problem, const SystolicTiming& timing, const Nest& nest);

// Tensors that are in the array, and past which it can run the others.
PerTensor<std::optional<Stationary>> stationary_candidates(const Problem& problem,
                                                           const SystolicTiming& timing,
                                                           const Nest& nest);

// `compat: scalesim`: cycles that the tool forgets, which prints the number of the last one.
inline std::int64_t slip(const SystolicTiming& timing) { return timing.scalesim ? 1 : 0; }

// What stays is the candidate with which the array is done first (of equals, the one exchanged
// least often, then the first); the other tensors move with the waves.
ComputeTime systolic_time(const Problem& problem, const SystolicTiming& timing, const Nest& nest);

const TimingModel& model_of(const SystolicTiming&);

}  // namespace mapsim
