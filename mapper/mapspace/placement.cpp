// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/placement.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::nests {
namespace {

// The chain of a single tensor.
Chain chain_of(const Mapspace& space, TensorId tensor) {
  Chain chain(space.problem().arch().levels.size());
  for (const LevelId level : chain.ids()) {
    const KeepRule rule = space.keep_rule(level, tensor);
    if (index_of(level) > 0 && rule != KeepRule::kBypass) {
      chain[level] = {{TensorSet{tensor}}, rule == KeepRule::kKeep};
    }
  }
  return chain;
}

// The chain of all tensors together, for even spaces.
Chain common_chain(const Mapspace& space, const Regions& regions) {
  const Problem& problem = space.problem();
  Chain chain(problem.arch().levels.size());
  for (const LevelId level : chain.ids()) {
    TensorSet required;
    TensorSet forbidden;
    for (const TensorId t : problem.workload().tensors.ids()) {
      const KeepRule rule = space.keep_rule(level, t);
      if (rule != KeepRule::kFree) {
        (rule == KeepRule::kKeep ? required : forbidden).insert(t);
      }
    }
    const std::uint32_t end = std::uint32_t{1} << problem.workload().tensors.size();
    for (std::uint32_t bits = 1; bits < end && index_of(level) > 0; ++bits) {
      const TensorSet set = TensorSet::from_bits(bits);
      if ((set & required) == required && (set & forbidden).empty()) {
        chain[level].choices.push_back(set);
      }
    }
    chain[level].required = index_of(level) > 0 && (!required.empty() || regions.is_border(level));
  }
  return chain;
}

}  // namespace

std::uint64_t Cursor::key() const {
  static_assert(kMaxLevels <= 16);
  std::uint64_t key = fanouts;
  for (const std::uint8_t level : last) {
    key = key * 16 + level;
  }
  return key;
}

std::vector<FanoutId> used_fanouts(const UnrollingClass& unrolling_class) {
  std::vector<FanoutId> used;
  for (const FanoutId f : unrolling_class.factors.ids()) {
    const auto& factors = unrolling_class.factors[f];
    if (std::any_of(factors.begin(), factors.end(), [](std::int64_t n) { return n > 1; })) {
      used.push_back(f);
    }
  }
  return used;
}

Placements::Placements(const Mapspace& space, const UnrollingClass& unrolling_class)
    : Placements{space, nests::used_fanouts(unrolling_class)} {}

Placements::Placements(const Mapspace& space, std::vector<FanoutId> used)
    : used_{std::move(used)}, regions_{space, used_}, bounds_{1} {
  const Problem& problem = space.problem();
  if (space.constraints().even) {
    chains_.push_back(common_chain(space, regions_));
  } else {
    for (const TensorId t : problem.workload().tensors.ids()) {
      chains_.push_back(chain_of(space, t));
    }
  }
  for (const FanoutId f : used_) {
    bounds_.push_back(problem.arch().levels_above[f]);
  }
  bounds_.push_back(problem.arch().levels.size());
}

// A point in the making.
struct Placements::Step {
  const Cursor& from;
  const Visit& visit;
  Point point;
  Cursor next;
};

bool Placements::requires_any(std::size_t chain, std::size_t begin, std::size_t end) const {
  for (std::size_t level = begin; level < end; ++level) {
    if (chains_[chain][static_cast<LevelId>(level)].required) {
      return true;
    }
  }
  return false;
}

// Chooses for the levels of `chain` from `level` on, then for those of the later chains.
void Placements::choose(Step& step, std::size_t chain, std::size_t level) const {
  if (chain == chains_.size()) {
    // Each level that keeps something advances its chain
    const bool has_keeps = step.next.last != step.from.last;
    if (has_keeps || step.next.fanouts > step.from.fanouts) {
      step.visit(step.point, step.next);
    }
    return;
  }
  if (!requires_any(chain, level, first_level(step.next.fanouts))) {
    const std::size_t behind = chain + 1;
    choose(step, behind, behind < chains_.size() ? step.from.last[behind] + 1U : 0U);
  }
  const std::size_t begin = std::max(level, first_level(step.from.fanouts));
  for (std::size_t here = begin; here < end_level(step.next.fanouts); ++here) {
    const auto id = static_cast<LevelId>(here);
    const std::uint8_t before = step.next.last[chain];
    step.next.last[chain] = static_cast<std::uint8_t>(here);
    for (const TensorSet set : chains_[chain][id].choices) {
      const TensorSet kept = step.point.keeps[id];
      step.point.keeps[id] = kept | set;
      choose(step, chain, here + 1);
      step.point.keeps[id] = kept;
    }
    step.next.last[chain] = before;
    if (chains_[chain][id].required) {
      break;
    }
  }
}

void Placements::for_each_point(const Cursor& from, const Visit& visit) const {
  Step step{from, visit, {}, from};
  step.point.keeps = PerLevel<TensorSet>(end_level(used_.size()));
  step.point.first_fanout = from.fanouts;
  for (std::size_t fanouts = from.fanouts; fanouts <= used_.size(); ++fanouts) {
    step.next.fanouts = fanouts;
    step.point.end_fanout = fanouts;
    choose(step, 0, from.last[0] + 1U);
  }
}

bool Placements::is_complete(const Cursor& cursor) const {
  if (cursor.fanouts < used_.size()) {
    return false;
  }
  for (std::size_t chain = 0; chain < chains_.size(); ++chain) {
    if (requires_any(chain, cursor.last[chain] + 1U, end_level(used_.size()))) {
      return false;
    }
  }
  return true;
}

}  // namespace mapsim::nests
