// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/simulate.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "core/rng.hpp"
#include "costmodel/reference/loop_walk.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/reference/transfer.hpp"
#include "costmodel/widths.hpp"

namespace mapsim {
namespace {

DenseTensor zeros(const Workload& workload, TensorId tensor) {
  const auto size = static_cast<std::size_t>(Projection{workload, tensor}.box_size());
  return {box_shape(workload, workload.tensors[tensor]), std::vector<double>(size, 0)};
}

AccessCounts& operator+=(AccessCounts& sum, const AccessCounts& n) {
  sum.reads += n.reads;
  sum.fills += n.fills;
  sum.updates += n.updates;
  sum.readbacks += n.readbacks;
  sum.drains += n.drains;
  return sum;
}

// No instance does more than the first one: bandwidth relies on it.
[[maybe_unused]] bool is_busiest(const AccessCounts& first, const AccessCounts& other) {
  return first.reads >= other.reads && first.fills >= other.fills &&
         first.updates >= other.updates && first.readbacks >= other.readbacks &&
         first.drains >= other.drains;
}

// One tensor: who holds it, outermost level first and the compute units last, and what moves it.
struct TensorPath {
  TensorId tensor{};
  Projection projection;
  std::vector<Holder> holders;
  std::vector<Transfer> transfers;  // between neighbours; they refer to the holders
};

// The whole machine, and the walk through the nest.
class Machine {
 public:
  Machine(const Problem& problem, const Mapping& mapping, const PerTensor<DenseTensor>& operands)
      : problem_{problem}, workload_{problem.workload()}, walk_{workload_, mapping} {
    for (const TensorId t : workload_.tensors.ids()) {
      chains_.push_back(make_chain(t, operands[t]));
    }
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // False: it was stopped.
  bool run(std::int64_t max_steps, const std::atomic<bool>* stop) {
    std::optional<std::size_t> advanced;  // none: the first step
    do {
      if (stop != nullptr && *stop) {
        return false;
      }
      if (++steps_ > max_steps) {
        throw std::length_error("the walk exceeds " + std::to_string(max_steps) + " steps");
      }
      move(advanced);
      if (!advanced) {
        note_footprints();
      }
      multiply();
      advanced = walk_.advance();
    } while (advanced);
    for (TensorPath& chain : chains_) {
      innermost_first(chain, [](Transfer& transfer) { transfer.finish(); });
    }
    return true;
  }

  Simulation result() const;

 private:
  TensorPath make_chain(TensorId tensor, const DenseTensor& operand) const {
    TensorPath chain{tensor, Projection{workload_, tensor}, {}, {}};
    for (const KeptAt& keep : walk_.keeps(tensor)) {
      chain.holders.push_back(make_holder(chain, keep.level, keep.depth));
    }
    chain.holders.push_back(make_holder(chain, std::nullopt, walk_.loops().size()));
    Buffer& outermost = chain.holders.front().buffers.front();
    outermost.points = chain.projection.points(whole_tile(workload_));
    for (const std::int64_t point : outermost.points) {
      outermost.values.push_back(
          tensor == workload_.output() ? 0 : operand.values[static_cast<std::size_t>(point)]);
    }
    for (std::size_t i = 0; i + 1 < chain.holders.size(); ++i) {
      chain.transfers.emplace_back(problem_, walk_, tensor, chain.holders[i], chain.holders[i + 1]);
    }
    return chain;
  }

  Holder make_holder(const TensorPath& chain, std::optional<LevelId> level,
                     std::size_t depth) const {
    Holder holder{level, depth, walk_.instances(depth), {}, {}, {}, {}, 0};
    const std::size_t count = holder.instances.size();
    holder.buffers.resize(count);
    holder.accesses.resize(count);
    if (chain.tensor == workload_.output()) {
      const auto box = static_cast<std::size_t>(chain.projection.box_size());
      holder.received.assign(count, std::vector<bool>(box, false));
      holder.handed = holder.received;
    }
    return holder;
  }

  template <class Action>
  static void innermost_first(TensorPath& chain, Action action) {
    std::for_each(chain.transfers.rbegin(), chain.transfers.rend(), action);
  }

  // Everything that leaves goes up before anything comes down.
  void move(std::optional<std::size_t> advanced) {
    for (TensorPath& chain : chains_) {
      for (Transfer& transfer : chain.transfers) {
        transfer.plan(advanced);
      }
      innermost_first(chain, [](Transfer& transfer) { transfer.leave(); });
      for (Transfer& transfer : chain.transfers) {
        transfer.enter();
      }
    }
  }

  // The first tile of the first instance is the largest.
  void note_footprints() {
    for (TensorPath& chain : chains_) {
      for (Holder& holder : chain.holders) {
        holder.footprint = static_cast<std::int64_t>(holder.buffers.front().points.size());
      }
    }
  }

  // One step of every compute unit that has work.
  void multiply() {
    const std::vector<LoopIndices>& units = chains_.back().holders.back().instances;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const std::optional<IterationTile> iteration = walk_.tile(walk_.loops().size(), units[unit]);
      if (!iteration) {
        continue;
      }
      double product = 1;
      for (TensorPath& chain : chains_) {
        Buffer& operand = chain.holders.back().buffers[unit];
        double& value = operand.at(chain.projection.first_point(*iteration));
        if (chain.tensor == workload_.output()) {
          value += product;
        } else {
          product *= value;
        }
      }
      ++macs_;
    }
  }

  void count_fanouts(Counts& counts) const;
  void count_levels(Counts& counts) const;

  const Problem& problem_;
  const Workload& workload_;
  LoopWalk walk_;
  std::vector<TensorPath> chains_;  // one per tensor, the output last
  std::int64_t steps_ = 0;
  std::int64_t macs_ = 0;
};

void Machine::count_levels(Counts& counts) const {
  counts.levels = PerLevel<PerTensor<TensorCounts>>(
      problem_.arch().levels.size(), PerTensor<TensorCounts>(workload_.tensors.size()));
  for (const TensorPath& chain : chains_) {
    for (const Holder& holder : chain.holders) {
      if (!holder.level) {
        continue;
      }
      TensorCounts& at = counts.levels[*holder.level][chain.tensor];
      at.kept = true;
      at.footprint = holder.footprint;
      at.busiest = holder.accesses.front();
      for (const AccessCounts& instance : holder.accesses) {
        assert(is_busiest(at.busiest, instance));
        at.total += instance;
      }
    }
  }
}

void Machine::count_fanouts(Counts& counts) const {
  const std::size_t fanouts = problem_.arch().fanouts.size();
  counts.reductions = PerFanout<std::int64_t>(fanouts, 0);
  counts.used_x = PerFanout<std::int64_t>(fanouts, 1);
  counts.used_y = PerFanout<std::int64_t>(fanouts, 1);
  counts.networks =
      PerFanout<PerTensor<NetworkCounts>>(fanouts, PerTensor<NetworkCounts>(chains_.size()));
  for (const TensorPath& chain : chains_) {
    for (const Transfer& transfer : chain.transfers) {
      transfer.add_networks(counts.networks);
    }
  }
  for (const Transfer& transfer : chains_.back().transfers) {
    for (const FanoutId f : counts.reductions.ids()) {
      counts.reductions[f] += transfer.reductions()[f];
    }
  }
  for (const WalkLoop& loop : walk_.loops()) {
    if (loop.fanout) {
      (loop.axis == Axis::kX ? counts.used_x : counts.used_y)[*loop.fanout] *= loop.bound;
    }
  }
}

Simulation Machine::result() const {
  Simulation result{{}, false, zeros(workload_, workload_.output())};
  count_levels(result.counts);
  count_fanouts(result.counts);
  result.counts.macs = macs_;
  result.counts.steps = steps_;
  assign_widths(workload_, result.counts);
  assign_ports(result.counts);
  assign_network_widths(workload_, result.counts);
  const Buffer& outermost = chains_.back().holders.front().buffers.front();
  for (std::size_t i = 0; i < outermost.points.size(); ++i) {
    result.output.values[static_cast<std::size_t>(outermost.points[i])] = outermost.values[i];
  }
  return result;
}

}  // namespace

PerTensor<DenseTensor> random_operands(const Workload& workload, std::uint64_t seed) {
  constexpr std::uint64_t kValues = 17;  // -8..8
  Rng rng{seed};
  PerTensor<DenseTensor> tensors;
  for (const TensorId t : workload.tensors.ids()) {
    tensors.push_back(zeros(workload, t));
    if (t == workload.output()) {
      continue;
    }
    for (const std::int64_t point : Projection{workload, t}.points(whole_tile(workload))) {
      tensors[t].values[static_cast<std::size_t>(point)] =
          static_cast<double>(rng.below(kValues)) - 8;
    }
  }
  return tensors;
}

std::vector<PerTensor<DenseTensor>> random_operands(const EinsumChain& chain, std::uint64_t seed) {
  std::vector<PerTensor<DenseTensor>> operands;
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    operands.push_back(random_operands(chain.einsums[e], seed + e));
    for (const TensorId t : chain.einsums[e].tensors.ids()) {
      if (chain.intermediate_of({e, t})) {
        std::fill(operands[e][t].values.begin(), operands[e][t].values.end(), 0);
      }
    }
  }
  return operands;
}

Simulation simulate(const Problem& problem, const Mapping& mapping,
                    const PerTensor<DenseTensor>& operands, std::int64_t max_steps,
                    const std::atomic<bool>* stop) {
  Machine machine{problem, mapping, operands};
  if (!machine.run(max_steps, stop)) {
    return {{}, true, {}};
  }
  return machine.result();
}

}  // namespace mapsim
