// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/nest_machine.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>

#include "costmodel/reference/simulate.hpp"

namespace mapsim {
namespace {

// No instance does more than the first one: bandwidth relies on it.
[[maybe_unused]] bool is_busiest(const AccessCounts& first, const AccessCounts& other) {
  return first.reads >= other.reads && first.fills >= other.fills &&
         first.updates >= other.updates && first.readbacks >= other.readbacks &&
         first.drains >= other.drains;
}

}  // namespace

NestMachine::NestMachine(const Problem& problem, const Workload& workload, const Mapping& mapping,
                         const PerTensor<Projection>& projections,
                         std::vector<std::vector<char>> masks)
    : problem_{problem}, workload_{problem.workload()}, walk_{workload, mapping} {
  if (!masks.empty()) {
    nonzeros_ = std::make_unique<Nonzeros>(problem, walk_, projections, std::move(masks));
    const auto& fanouts = problem.arch().fanouts;
    const bool packs = std::any_of(fanouts.begin(), fanouts.end(), [](const Fanout& fanout) {
      return fanout.balance == Balance::kPacked;
    });
    if (packs) {
      packed_clock_ = std::make_unique<PackedClock>(problem.arch(), workload_, walk_);
    } else {
      clock_.emplace(problem.arch(), walk_);
    }
  }
  for (const TensorId t : workload_.tensors.ids()) {
    add_path(t, projections[t]);
  }
}

void NestMachine::add_path(TensorId tensor, const Projection& projection) {
  TensorPath& path = chains_.emplace_back(TensorPath{tensor, projection, {}, {}});
  for (const KeptAt& keep : walk_.keeps(tensor)) {
    path.holders.push_back(make_holder(path, keep.level, keep.depth));
  }
  path.holders.push_back(make_holder(path, std::nullopt, walk_.loops().size()));
  for (std::size_t i = 0; i + 1 < path.holders.size(); ++i) {
    path.transfers.emplace_back(problem_, walk_, tensor, projection, path.holders[i],
                                path.holders[i + 1], nonzeros_.get());
  }
}

Holder NestMachine::make_holder(const TensorPath& path, std::optional<LevelId> level,
                                std::size_t depth) const {
  Holder holder{level, depth, walk_.instances(depth), {}, {}, {}, {}, 0, {}, {}, {}};
  const std::size_t count = holder.instances.size();
  holder.buffers.resize(count);
  holder.accesses.resize(count);
  holder.acts.resize(count);
  holder.shares.resize(count);
  holder.nonzeros.resize(count);
  if (path.tensor == workload_.output()) {
    const auto box = static_cast<std::size_t>(path.projection.box_size());
    holder.received.assign(count, std::vector<bool>(box, false));
    holder.handed = holder.received;
  }
  return holder;
}

void NestMachine::begin(const IterationTile& box) {
  walk_.enter(box);
  for (TensorPath& path : chains_) {
    for (Holder& holder : path.holders) {
      std::fill(holder.buffers.begin(), holder.buffers.end(), HeldPoints{});
    }
  }
}

void NestMachine::set_known(TensorId tensor, const PointSet& known) {
  std::vector<bool>& handed = chains_[index_of(tensor)].holders.front().handed.front();
  std::fill(handed.begin(), handed.end(), false);
  for (const std::int64_t point : known) {
    handed[static_cast<std::size_t>(point)] = true;
  }
}

void NestMachine::forget_sums() {
  TensorPath& path = chains_.back();
  for (Holder& holder : path.holders) {
    for (auto* met : {&holder.received, &holder.handed}) {
      for (std::vector<bool>& points : *met) {
        std::fill(points.begin(), points.end(), false);
      }
    }
  }
  for (Transfer& transfer : path.transfers) {
    transfer.forget();
  }
}

bool NestMachine::run(std::int64_t max_steps, const std::atomic<bool>* stop) {
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
    if (clock_) {
      clock_->end_step(advanced);
    }
  } while (advanced);
  for (TensorPath& path : chains_) {
    innermost_first(path, [](Transfer& transfer) { transfer.finish(); });
  }
  return true;
}

template <class Action>
void NestMachine::innermost_first(TensorPath& path, Action action) {
  std::for_each(path.transfers.rbegin(), path.transfers.rend(), action);
}

// Everything that leaves goes up before anything comes down.
void NestMachine::move(std::optional<std::size_t> advanced) {
  for (TensorPath& path : chains_) {
    for (Transfer& transfer : path.transfers) {
      transfer.plan(advanced);
    }
    innermost_first(path, [](Transfer& transfer) { transfer.leave(); });
    for (Transfer& transfer : path.transfers) {
      transfer.enter();
    }
  }
}

// The first tile of the first instance is the largest of a box.
void NestMachine::note_footprints() {
  for (TensorPath& path : chains_) {
    for (Holder& holder : path.holders) {
      holder.footprint = std::max(holder.footprint, count_of(holder.buffers.front().points));
    }
  }
}

// One step of every compute unit that has work.
void NestMachine::multiply() {
  const std::vector<LoopIndices>& units = chains_.back().holders.back().instances;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const std::optional<IterationTile> iteration = walk_.tile(walk_.loops().size(), units[unit]);
    if (!iteration) {
      continue;
    }
    double product = 1;
    ZeroAct act = ZeroAct::kNothing;
    for (TensorPath& path : chains_) {
      HeldPoints& operand = path.holders.back().buffers[unit];
      const std::int64_t point = path.projection.first_point(*iteration);
      double& value = operand.at(point);
      if (nonzeros_) {
        act = stronger(act, path.holders.back().acts[unit].operations);
        if (path.tensor != workload_.output() && nonzeros_->is_zero(path.tensor, point) &&
            nonzeros_->model().looks_at(path.tensor)) {
          act = stronger(act, nonzeros_->model().machine().when_zero);
        }
      }
      if (path.tensor == workload_.output()) {
        value += product;
      } else {
        product *= value;
      }
    }
    ++macs_;
    gated_ += act == ZeroAct::kGate ? 1 : 0;
    skipped_ += act == ZeroAct::kSkip ? 1 : 0;
    if (clock_ && act != ZeroAct::kSkip) {
      clock_->take_step(unit);
    }
    if (packed_clock_ && act != ZeroAct::kSkip) {
      packed_clock_->take_step(units[unit], walk_.moment());
    }
  }
}

void NestMachine::count_levels(Counts& counts) const {
  counts.levels = PerLevel<PerTensor<TensorCounts>>(
      problem_.arch().levels.size(), PerTensor<TensorCounts>(workload_.tensors.size()));
  for (const TensorPath& path : chains_) {
    for (const Holder& holder : path.holders) {
      if (!holder.level) {
        continue;
      }
      TensorCounts& at = counts.levels[*holder.level][path.tensor];
      at.kept = true;
      at.footprint = holder.footprint;
      at.busiest = holder.accesses.front();
      for (const AccessCounts& instance : holder.accesses) {
        assert(is_busiest(at.busiest, instance));
        at.total.add(instance);
      }
    }
  }
}

void NestMachine::count_fanouts(Counts& counts) const {
  const std::size_t fanouts = problem_.arch().fanouts.size();
  counts.reductions = PerFanout<std::int64_t>(fanouts, 0);
  counts.used_x = PerFanout<std::int64_t>(fanouts, 1);
  counts.used_y = PerFanout<std::int64_t>(fanouts, 1);
  counts.networks =
      PerFanout<PerTensor<NetworkCounts>>(fanouts, PerTensor<NetworkCounts>(chains_.size()));
  for (const TensorPath& path : chains_) {
    for (const Transfer& transfer : path.transfers) {
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

SparseCounts NestMachine::sparse_counts() const {
  SparseCounts counts;
  counts.levels = PerLevel<PerTensor<SparseTensor>>(
      problem_.arch().levels.size(), PerTensor<SparseTensor>(workload_.tensors.size()));
  for (const TensorPath& path : chains_) {
    for (const Holder& holder : path.holders) {
      if (!holder.level) {
        continue;
      }
      SparseTensor& at = counts.levels[*holder.level][path.tensor];
      at.busiest = holder.nonzeros.front();
      for (const SparseTensor::Accesses& instance : holder.nonzeros) {
        for (std::size_t a = 0; a < instance.size(); ++a) {
          at.total[a].actual += instance[a].actual;
          at.total[a].gated += instance[a].gated;
          at.total[a].skipped += instance[a].skipped;
          at.total[a].format_bits += instance[a].format_bits;
        }
      }
    }
  }
  counts.gated = gated_;
  counts.skipped = skipped_;
  counts.operations = static_cast<double>(macs_) - gated_ - skipped_;
  counts.steps = static_cast<double>(steps_) * (1 - skipped_ / static_cast<double>(macs_));
  return counts;
}

Counts NestMachine::counts() const {
  Counts counts;
  count_levels(counts);
  count_fanouts(counts);
  counts.macs = macs_;
  counts.steps = steps_;
  return counts;
}

}  // namespace mapsim
