// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "mapper/mapper.hpp"

namespace mapsim {

// The objective of a mapping whose instances wait for the busiest one (costmodel/busiest.hpp), or a
// lower bound of it.
struct BusiestValue {
  double value = 0;
  bool exact = false;
};
// That of the mean over instances, which searches minimise, bounds it from below for every mapping.
// nullopt: no instance waits, or the objective has no time in it.
std::optional<BusiestValue> busiest_value(const Problem& problem, const Objective& objective,
                                          const Mapping& mapping, const Cost& cost);

// Goes from the best mapping to neighbours with less of busiest_value(), step by step. The proof
// still bounds the mean value over all mappings; its gap is that of the new mapping.
void take_least_busiest(const Mapspace& space, const SearchOptions& options, SearchResult& result);

}  // namespace mapsim
