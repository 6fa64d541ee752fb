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

// What stands between loops: chains of levels, one per tensor (in an even space one for all of
// them), and the used fanouts. Points are taken one by one, outermost first.
class Arrangements {
 public:
  Arrangements(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used);

  // Per chain the first level that can still come; used fanouts that have been crossed; what the
  // region has read; dims of the loops since the last point, as bits (where each may have one
  // only).
  struct State {
    std::vector<std::size_t> next;
    std::size_t crossed = 0;
    std::size_t reading = 0;
    std::uint32_t since = 0;
    friend auto operator<=>(const State&, const State&) = default;
  };
  using TensorPaths = std::map<State, mpz_class>;
  // What may stand at a level, of one chain.
  struct Link {
    long ways = 0;      // non-empty sets of tensors
    bool skip = false;  // nothing at all?
  };
  using Chains = std::vector<std::vector<Link>>;

  TensorPaths start() const;  // the outermost level keeps everything
  // Whatever the tile, and where tiles are these (per number of fanouts crossed above them), with
  // `left` of each dim to temporal loops further in.
  const Chains& chains() const { return chains_; }
  Chains chains_at(const std::vector<PerDim<std::int64_t>>& extents,
                   const PerDim<std::int64_t>& left) const;
  // After a loop; nullopt: its region does not allow it.
  std::optional<State> after_loop(const State& state, DimId dim, std::int64_t factor) const;
  // TensorPaths after one more point that is not empty.
  TensorPaths occupy(const TensorPaths& before, const Chains& chains) const;
  // Those with nothing left to place.
  mpz_class whole(const TensorPaths& ways) const;
  std::size_t most_points() const;

 private:
  // What a chain may do at a point.
  struct Step {
    std::size_t next = 0;
    mpz_class ways;
    bool takes = false;
  };
  std::size_t region_of(const State& state) const;
  std::vector<Step> steps(const std::vector<Link>& chain, std::size_t from,
                          std::size_t crossed) const;
  void take(const Chains& chains, const State& from, const State& to, const mpz_class& ways,
            bool occupied, TensorPaths& found) const;

  const Problem& problem_;
  const Rules& rules_;
  std::vector<FanoutId> used_;
  Regions regions_;
  Chains chains_;
};

}  // namespace mapsim::check
