// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "mapper/mapper.hpp"

namespace mapsim {

// The best of a sequence of mappings, and what became of the others. Tallies of consecutive parts,
// added in order, give the tally of the whole: on ties the first mapping stays.
struct Tally {
  std::optional<Mapping> best;
  std::optional<Cost> cost;
  std::int64_t evaluations = 0;
  InfeasibleReport infeasible;

  void consider(const Problem& problem, const Objective& objective, const Mapping& mapping);
  void add(const Objective& objective, Tally other);
};

// Considers `count` mappings, the i-th being `mapping_at(i)`, on several threads; the result is
// that of one thread.
using MappingAt = std::function<Mapping(std::int64_t)>;
Tally consider_all(const Problem& problem, const SearchOptions& options, std::int64_t count,
                   const MappingAt& mapping_at);

bool is_stopped(const SearchOptions& options);

}  // namespace mapsim
