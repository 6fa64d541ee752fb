// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/regions.hpp"
#include "check/rules.hpp"

namespace mapsim::check {

// Counts the ways to place keeps and used fanouts on the points of a nest. A point is a position
// between loops. Levels are in chains, one chain per tensor (in an even space, one chain for all),
// and stand in order. Points are filled one by one, outermost first.
class Arrangements {
 public:
  Arrangements(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used);

  // The placements of the points so far.
  struct State {
    std::vector<std::size_t> next;  // per chain: the next level that can still be placed
    std::size_t crossed = 0;        // used fanouts
    std::size_t reading = 0;        // what the current region has read (regions.hpp)
    // Dims of the loops since the last point, as bits; only where a dim may have a single loop
    // there
    std::uint32_t since = 0;
    friend auto operator<=>(const State&, const State&) = default;
  };
  using Ways = std::map<State, mpz_class>;  // ways to reach each state
  // The choices at a level of a chain.
  struct Link {
    long ways = 0;      // number of non-empty sets of tensors
    bool skip = false;  // may the level keep nothing?
  };
  using Chains = std::vector<std::vector<Link>>;

  Ways start() const;  // the outermost level keeps every tensor
  // The chains, whatever the tile; and the chains where the tiles are `extents` (per number of
  // fanouts crossed above them), with `left` of each dim for temporal loops further in.
  const Chains& chains() const { return chains_; }
  Chains chains_at(const std::vector<PerDim<std::int64_t>>& extents,
                   const PerDim<std::int64_t>& left) const;
  // The state after a loop; nullopt: the region does not allow the loop.
  std::optional<State> after_loop(const State& state, DimId dim, std::int64_t factor) const;
  // The ways after one more point that is not empty.
  Ways occupy(const Ways& before, const Chains& chains) const;
  // The number of ways in which all keeps and fanouts are placed.
  mpz_class whole(const Ways& ways) const;
  std::size_t most_points() const;

 private:
  // A choice of a chain at a point.
  struct Step {
    std::size_t next = 0;
    mpz_class ways;
    bool takes = false;
  };
  std::size_t region_of(const State& state) const;
  std::vector<Step> steps(const std::vector<Link>& chain, std::size_t from,
                          std::size_t crossed) const;
  void take(const Chains& chains, const State& from, const State& to, const mpz_class& ways,
            bool occupied, Ways& found) const;

  const Problem& problem_;
  const Rules& rules_;
  std::vector<FanoutId> used_;
  Regions regions_;
  Chains chains_;
};

}  // namespace mapsim::check
