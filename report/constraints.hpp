// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// The constraints of a space as a file (docs/formats.md), with everything that a preset or a word
// for several dims or tensors stands for written out.
std::string constraints_text(const Mapspace& space);

// Its lines behind `tiling`.
std::string rule_lines(const Mapspace& space);

// One of these lines: the given unrolling, and what must be kept or bypassed beyond what the
// architecture demands; empty: nothing.
std::string spatial_rules(const Problem& problem, const Unrolling& given);
std::string keep_rules(const Mapspace& space, KeepRule rule);

// factors: imperfect and what goes with it; nothing of perfect ones.
std::string factor_lines(const Mapspace& space);

// {K: 4, C: 2}: the factors above 1.
std::string factors_map(const Workload& workload, const PerDim<std::int64_t>& factors);

// [K, C]
std::string dim_list(const Workload& workload, DimSet dims);

}  // namespace mapsim
