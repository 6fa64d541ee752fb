// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "costmodel/reference/instance_clock.hpp"
#include "costmodel/reference/loop_walk.hpp"
#include "costmodel/reference/packed_clock.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/reference/transfer.hpp"

namespace mapsim {

// All buffers and compute units of a machine while a nest runs, for simulate() and, entered once
// per box, for the branches of simulate_tree(). Counts accumulate over runs, and instances remember
// the sums that they have met.
class NestMachine {
 public:
  // `projections`: per tensor, of the whole einsum; `workload`: with the bounds that the nest was
  // written for. Each tensor's outermost keep stands for what is around the nest.
  NestMachine(const Problem& problem, const Workload& workload, const Mapping& mapping,
              const PerTensor<Projection>& projections, std::vector<std::vector<char>> masks = {});
  NestMachine(const NestMachine&) = delete;
  NestMachine& operator=(const NestMachine&) = delete;

  // Empties all buffers and begins with a box no larger than those bounds.
  void begin(const IterationTile& box);
  // A tensor around the nest: set before the run, with the points of the box. Sums that exist
  // already (`known`) will be read back.
  HeldPoints& around(TensorId tensor) {
    return chains_[index_of(tensor)].holders.front().buffers.front();
  }
  void set_known(TensorId tensor, const PointSet& known);
  // Forgets all sums; they are new from here on.
  void forget_sums();

  // Walks to the end of the box. False: it was stopped. std::length_error after `max_steps` of all
  // runs.
  bool run(std::int64_t max_steps, const std::atomic<bool>* stop);
  std::int64_t steps() const { return steps_; }
  // The counts of all runs; without widths and ports.
  Counts counts() const;
  // The counts for the data set whose nonzeros `masks` gave.
  SparseCounts sparse_counts() const;
  // Steps until the last instance is done; instances skip steps where they can.
  double busiest_steps() const { return clock_ ? clock_->time() : packed_clock_->time(); }

 private:
  // One tensor: who holds it, outermost level first and the compute units last, and what moves it.
  struct TensorPath {
    TensorId tensor{};
    Projection projection;
    std::vector<Holder> holders;
    std::vector<Transfer> transfers;  // between neighbours; they refer to the holders
  };

  void add_path(TensorId tensor, const Projection& projection);
  Holder make_holder(const TensorPath& path, std::optional<LevelId> level, std::size_t depth) const;
  template <class Action>
  static void innermost_first(TensorPath& path, Action action);
  void move(std::optional<std::size_t> advanced);
  void note_footprints();
  void multiply();
  void count_levels(Counts& counts) const;
  void count_fanouts(Counts& counts) const;

  const Problem& problem_;
  const Workload& workload_;
  LoopWalk walk_;
  std::unique_ptr<Nonzeros> nonzeros_;
  double gated_ = 0, skipped_ = 0;      // operations
  std::optional<InstanceClock> clock_;  // one of both, if zeros are skipped
  std::unique_ptr<PackedClock> packed_clock_;
  std::deque<TensorPath> chains_;  // one per tensor, the output last
  std::int64_t steps_ = 0;
  std::int64_t macs_ = 0;
};

}  // namespace mapsim
