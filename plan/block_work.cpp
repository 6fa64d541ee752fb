// SPDX-License-Identifier: Apache-2.0
#include "plan/block_work.hpp"

#include <algorithm>
#include <utility>

#include "plan/servers.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMostStates = 20'000;

}  // namespace

BlockWork::BlockWork(const PlanProblem& problem, const PlanBlock& block, const BlockParts& parts,
                     std::vector<std::vector<double>> weights, std::vector<std::size_t> engines,
                     std::function<bool(std::size_t, std::size_t, std::size_t)> is_open,
                     std::function<bool()> is_late)
    : problem_{problem},
      block_{block},
      parts_{parts},
      weights_{std::move(weights)},
      engines_{std::move(engines)},
      is_open_{std::move(is_open)},
      is_late_{std::move(is_late)},
      readers_(parts.tensors.size(), 0) {
  for (std::size_t i = 0; i < parts.operations; ++i) {
    for (const std::size_t k : parts.reads[i]) {
      readers_[k] |= Set{1} << i;
    }
  }
}

const std::vector<double>& BlockWork::left(Set covered, const There& there) {
  const State state{covered, there};
  const auto at = known_.find(state);
  if (at != known_.end()) {
    return at->second;
  }
  const std::size_t size = weights_.size() * problem_.places;
  if (covered == parts_.all() || known_.size() >= kMostStates || is_late_()) {
    return known_.emplace(state, std::vector<double>(size, 0)).first->second;
  }
  Cost least(size, kNever);
  for (std::size_t to = 0; to < problem_.places; ++to) {
    for (std::size_t g = 0; g < parts_.choices.size(); ++g) {
      run(g, to, state, least);
    }
    for (std::size_t k = 0; k < there.size(); ++k) {
      for (std::size_t from = 0; from < problem_.places; ++from) {
        move(k, from, to, state, least);
      }
    }
  }
  return known_.emplace(state, std::move(least)).first->second;
}

bool BlockWork::may_end(std::size_t group, std::size_t place, std::size_t end) const {
  const auto& writes = problem_.choices[parts_.choices[group]].writes;
  return is_open_(group, place, end) &&
         (place == end || std::none_of(writes.begin(), writes.end(), [this](std::size_t tensor) {
            return tensor == block_.out;
          }));
}

void BlockWork::run(std::size_t group, std::size_t place, const State& state, Cost& least) {
  const PlanProblem::Choice& choice = problem_.choices[parts_.choices[group]];
  const std::uint32_t here = std::uint32_t{1} << place;
  if (!choice.on[place] || (parts_.sets[group] & state.covered) != 0 ||
      std::any_of(choice.reads.begin(), choice.reads.end(), [&](std::size_t tensor) {
        return (state.there[parts_.local[tensor]] & here) == 0;
      })) {
    return;
  }
  State next = state;
  next.covered |= parts_.sets[group];
  for (const std::size_t tensor : choice.writes) {
    if (parts_.local[tensor] != BlockParts::kNone) {
      next.there[parts_.local[tensor]] = here;
    }
  }
  for (std::size_t k = 0; k < next.there.size(); ++k) {
    next.there[k] = (readers_[k] & ~next.covered) == 0 ? 0 : next.there[k];
  }
  const Cost& behind = left(next.covered, next.there);
  for (std::size_t end = 0; end < problem_.places; ++end) {
    for (std::size_t w = 0; w < weights_.size() && may_end(group, place, end); ++w) {
      double& value = least[w * problem_.places + end];
      value = std::min(value, weights_[w][engines_[place]] * choice.on[place]->latency +
                                  behind[w * problem_.places + end]);
    }
  }
}

void BlockWork::move(std::size_t tensor, std::size_t from, std::size_t to, const State& state,
                     Cost& least) {
  const std::uint32_t there = state.there[tensor];
  const Load* load = move_of(problem_, parts_.tensors[tensor], from, to);
  if ((there >> from & 1) == 0 || (there >> to & 1) != 0 || load == nullptr) {
    return;
  }
  State next = state;
  next.there[tensor] |= std::uint32_t{1} << to;
  const Cost& behind = left(next.covered, next.there);
  for (std::size_t w = 0; w < weights_.size(); ++w) {
    const double own = load->engine ? weights_[w][*load->engine] * load->busy : 0;
    for (std::size_t end = 0; end < problem_.places; ++end) {
      double& value = least[w * problem_.places + end];
      value = std::min(value, own + behind[w * problem_.places + end]);
    }
  }
}

}  // namespace mapsim
