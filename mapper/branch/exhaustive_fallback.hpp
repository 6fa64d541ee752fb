// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "mapper/deadline.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// Spaces with imperfect factors and at most this many mappings are enumerated if a few labels do
// not decide them first. Evaluating 200,000 mappings takes a second or two. Labels with deferred
// costs (ramped latency) hardly dominate each other, so there can be more of them than mappings
// (decision 33).
inline constexpr std::int64_t kMostEnumerated = 200'000;

// The number of mappings of such a space; 0: it has more, or perfect factors.
std::int64_t count_if_enumerable(const Mapspace& space);

// Labels to try first: about as much work as evaluating `few` mappings.
std::int64_t labels_before_enumeration(std::int64_t few);

// Replaces `result`, which a search left open, by the result of exhaustive search, unless the
// deadline comes first.
void enumerate_instead(const Mapspace& space, SearchOptions options, const Deadline& deadline,
                       SearchResult& result);

}  // namespace mapsim
