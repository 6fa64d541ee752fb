// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// The constraints of a mapspace as YAML (docs/formats.md). Presets, and words that stand for
// several dims or tensors, are written out.
std::string constraints_text(const Mapspace& space);

// The lines of that text after `tiling`.
std::string rule_lines(const Mapspace& space);

// Single lines of that text, empty if there is no such constraint: the given unrolling; tensors
// that must be kept or bypassed beyond what the architecture demands.
std::string spatial_rules(const Problem& problem, const Unrolling& given);
std::string keep_rules(const Mapspace& space, KeepRule rule);

// `factors: imperfect` and the keys that belong to it; empty with perfect factors.
std::string factor_lines(const Mapspace& space);

// "{K: 4, C: 2}": the factors above 1.
std::string factors_map(const Workload& workload, const PerDim<std::int64_t>& factors);

// "[K, C]"
std::string dim_list(const Workload& workload, DimSet dims);

}  // namespace mapsim
