// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "plan/block_parts.hpp"
#include "plan/block_state.hpp"
#include "plan/block_work.hpp"
#include "plan/servers.hpp"

namespace mapsim {

// How early a block can end that goes on from a state. There are two bounds, for each place at
// which the block's last tensor may be made.
//
// Paths: a group starts not before what it reads can be at its server; and from its finish to the
// end of the block takes at least the longest path behind it, moves between servers included.
//
// Work: what is left to run and to convert must fit on the clocks. A clock works from when it is
// free, and something can start there, until what it has done last can still reach the end. Of all
// ways to share the work, weights of the engines bound the fastest (the duals of a linear program):
// the weighted time of all clocks is no less than the least weighted work, moves included
// (plan/block_work.hpp).
class BlockBound {
 public:
  BlockBound(const PlanProblem& problem, const std::vector<Server>& servers, const PlanBlock& block,
             const BlockParts& parts, std::function<bool()> is_late);

  // By place of the end [s]: no schedule from the state that ends there, and in less than
  // limits[place], ends earlier. Limits of the first state must hold for all others, too.
  std::vector<double> of(const BlockState& state, const std::vector<double>& limits);

  // The least time in which a tensor comes from one server to another; never: it cannot.
  double way(std::size_t tensor, std::size_t from, std::size_t to) const {
    return ways_[(tensor * servers_.size() + from) * servers_.size() + to];
  }

 private:
  void set_ways();
  void set_behind();
  void set_weights();
  double behind(std::size_t group, std::size_t server, std::size_t end, std::size_t first,
                const std::vector<double>& tails) const;
  void set_finishes(const BlockState& state);
  void set_ready(std::size_t tensor, const double* there);
  double by_paths(const BlockState& state, std::size_t end) const;
  double by_work(const BlockState& state, std::size_t end, double limit);
  double least_time(const std::vector<double>& weights, const std::vector<double>& lost,
                    double work, double limit) const;
  void set_work(const std::vector<double>& limits);
  // By clock: the least time from the start of the block until it begins, and from when it is done
  // to the end.
  struct Idle {
    std::vector<double> before, behind;
    void take(std::size_t clock, double first, double last);
  };
  void add_groups(std::size_t end, double limit, Idle& idle) const;
  void add_moves(std::size_t end, double limit, Idle& idle) const;
  // [s]; never: it does not run there
  double load(std::size_t group, std::size_t server) const {
    return loads_[group * servers_.size() + server];
  }
  bool is_left(const BlockState& state, std::size_t operation) const {
    return !parts_.is_small() || (state.covered >> operation & 1) == 0;
  }
  // Whether a group can run on a server in a schedule that ends at `end` before the limit.
  bool is_open(std::size_t group, std::size_t server, std::size_t end, double limit) const {
    const std::size_t at = group * servers_.size() + server;
    return finishes_[at] + behind_[end][at] < limit;
  }

  const PlanProblem& problem_;
  const std::vector<Server>& servers_;
  const PlanBlock& block_;
  const BlockParts& parts_;
  std::function<bool()> is_late_;  // there is no time for more than a coarse bound
  std::size_t clocks_ = 0, engines_ = 0;
  std::vector<double> loads_;  // by group and server
  struct Move {                // of a tensor, by an engine
    std::size_t tensor = 0, from = 0, to = 0, clock = 0;
    double rest = 0;  // until the tensor is there, once the clock is free again
  };
  std::vector<Move> moves_;   // by tensor and where it goes
  std::vector<double> ways_;  // by tensor, and the servers from and to
  std::vector<std::size_t> engine_of_clock_;
  std::vector<std::vector<std::size_t>> writers_, readers_;  // by tensor: groups
  std::vector<std::vector<double>> behind_;   // by place of the end: by group and server
  std::vector<std::vector<double>> weights_;  // by engine
  // For one state: by group and server the least finish, and by tensor and server the least time at
  // which the tensor can be read there.
  std::vector<double> finishes_, ready_;
  std::optional<BlockWork> work_;  // where the block is small
  BlockWork::There there_;         // of the state
};

}  // namespace mapsim
