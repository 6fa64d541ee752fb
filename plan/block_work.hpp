// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "plan/block_parts.hpp"

namespace mapsim {

// What is left to do in a block: the least sum, over groups and moves, of the time that each takes
// of an engine, times a weight of that engine. When each runs, and on which copy of an engine, does
// not matter, so that what has run and which places can read which tensor decide it: each such
// state is computed once. The search of a block needs it for several weights, and for each place
// at which the last tensor may be made.
class BlockWork {
 public:
  using Set = BlockParts::Set;
  // By tensor: the places that can read it, as bits.
  using There = std::vector<std::uint32_t>;
  // Weights by engine. `engines`: by place. `is_open(group, place, end)`: whether a group may run
  // at a place if the block ends at `end`. `is_late`: there is no time for more.
  BlockWork(const PlanProblem& problem, const PlanBlock& block, const BlockParts& parts,
            std::vector<std::vector<double>> weights, std::vector<std::size_t> engines,
            std::function<bool(std::size_t, std::size_t, std::size_t)> is_open,
            std::function<bool()> is_late);

  // By weights * places + place of the end [s]; never: the block cannot end there. 0 for all where
  // there are too many states, or it is late.
  const std::vector<double>& left(Set covered, const There& there);

 private:
  struct State {
    Set covered = 0;
    There there;
    bool operator<(const State& other) const {
      return covered != other.covered ? covered < other.covered : there < other.there;
    }
  };
  using Cost = std::vector<double>;  // as left() has it
  void run(std::size_t group, std::size_t place, const State& state, Cost& least);
  void move(std::size_t tensor, std::size_t from, std::size_t to, const State& state, Cost& least);
  bool may_end(std::size_t group, std::size_t place, std::size_t end) const;

  const PlanProblem& problem_;
  const PlanBlock& block_;
  const BlockParts& parts_;
  std::vector<std::vector<double>> weights_;
  std::vector<std::size_t> engines_;
  std::function<bool(std::size_t, std::size_t, std::size_t)> is_open_;
  std::function<bool()> is_late_;
  std::vector<Set> readers_;  // by tensor
  std::map<State, Cost> known_;
};

}  // namespace mapsim
