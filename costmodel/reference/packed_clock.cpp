// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/packed_clock.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mapsim {

namespace {

// The loops that these lanes are packed from: over their dim, inside the innermost tile around them
// that has it, and not further out than other packed lanes over it.
std::vector<std::size_t> filled_from(const Arch& arch, const Workload& workload,
                                     const LoopWalk& walk, std::size_t lanes) {
  const std::vector<WalkLoop>& loops = walk.loops();
  const DimId dim = loops[lanes].dim;
  std::size_t begin = 0;
  for (const TensorId t : workload.tensors.ids()) {
    for (const KeptAt& keep : walk.keeps(t)) {
      if (workload.tensors[t].dims().contains(dim) && keep.depth <= lanes) {
        begin = std::max(begin, keep.depth);
      }
    }
  }
  std::vector<std::size_t> filled{lanes};
  for (std::size_t i = lanes; i-- > begin;) {
    if (loops[i].dim != dim) {
      continue;
    }
    if (!loops[i].fanout) {
      filled.insert(filled.begin(), i);
    } else if (arch.fanouts[*loops[i].fanout].balance == Balance::kPacked) {
      break;
    }
  }
  return filled;
}

}  // namespace

PackedClock::PackedClock(const Arch& arch, const Workload& workload, const LoopWalk& walk)
    : loops_{walk.loops()} {
  const std::vector<WalkLoop>& loops = loops_;
  std::vector<bool> is_filled(loops.size(), false);
  std::size_t waits = 0;  // groups before this one are joined where instances wait for each other
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i].fanout && arch.fanouts[*loops[i].fanout].balance == Balance::kPacked) {
      for (const std::size_t from : filled_from(arch, workload, walk, i)) {
        is_filled[from] = from != i;
      }
    }
  }
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (is_filled[i]) {
      continue;
    }
    const Balance balance =
        loops[i].fanout ? arch.fanouts[*loops[i].fanout].balance : Balance::kBarrier;
    Group group{{i}, Joined::kSum, 1, loops[i].bound};
    if (balance == Balance::kPacked) {
      group = {filled_from(arch, workload, walk, i), Joined::kBatches, 1, loops[i].bound};
    } else if (loops[i].fanout) {
      group.joined = balance == Balance::kIdeal ? Joined::kMean : Joined::kMost;
    }
    for (const std::size_t loop : group.loops) {
      group.indices *= loops[loop].bound;
    }
    const bool alone = balance == Balance::kEnd || balance == Balance::kIdeal;
    const auto at = alone ? static_cast<std::ptrdiff_t>(waits) : std::ssize(groups_);
    groups_.insert(groups_.begin() + at, group);
    waits = alone ? waits + 1 : loops[i].fanout ? groups_.size() : waits;
  }
}

void PackedClock::take_step(const LoopIndices& instance, const LoopIndices& moment) {
  std::int64_t step = 0;
  for (const Group& group : groups_) {
    for (const std::size_t loop : group.loops) {
      step = step * loops_[loop].bound + instance[loop] + moment[loop];
    }
  }
  taken_.push_back(step);
}

double PackedClock::joined(const Group& group, const std::vector<double>& times) {
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  const double most = *std::max_element(times.begin(), times.end());
  double batches = 0;
  const std::ptrdiff_t lanes = group.lanes;
  for (auto at = times.begin(); at != times.end();) {
    const auto end = at + std::min(lanes, times.end() - at);
    batches += *std::max_element(at, end);
    at = end;
  }
  switch (group.joined) {
    case Joined::kSum:
      return sum;
    case Joined::kMost:
      return most;
    case Joined::kMean:
      return sum / static_cast<double>(group.lanes);
    case Joined::kBatches:
      return batches;
  }
  return sum;
}

double PackedClock::time() const {
  std::vector<std::pair<std::int64_t, double>> times;  // that are not 0, in order
  times.reserve(taken_.size());
  for (const std::int64_t step : taken_) {
    times.emplace_back(step, 1);
  }
  std::sort(times.begin(), times.end());
  for (std::size_t g = groups_.size(); g-- > 0;) {
    std::vector<std::pair<std::int64_t, double>> around;
    for (std::size_t i = 0; i < times.size();) {
      const std::int64_t outside = times[i].first / groups_[g].indices;
      std::vector<double> inside;
      for (; i < times.size() && times[i].first / groups_[g].indices == outside; ++i) {
        inside.push_back(times[i].second);
      }
      around.emplace_back(outside, joined(groups_[g], inside));
    }
    times = std::move(around);
  }
  return times.empty() ? 0 : times.front().second;
}

}  // namespace mapsim
