// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "mapper/deadline.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// Imperfect spaces of so few mappings are looked at one by one if labels do not decide them first:
// 200,000 take a second or two, and labels that owe what they do not count (ramped latency) can be
// more than the mappings that they are to save (decision 33).
inline constexpr std::int64_t kFewMappings = 200'000;

// How many mappings such a space has; 0: it is not one.
std::int64_t count_if_few(const Mapspace& space);

// Labels to try it with: about as much work as looking at all of `few` mappings.
std::int64_t labels_worth(std::int64_t few);

// Puts what looking at every mapping says in the place of what a search has left open, if deadline
// lasts for all.
void look_at_all(const Mapspace& space, SearchOptions options, const Deadline& deadline,
                 SearchResult& result);

}  // namespace mapsim
