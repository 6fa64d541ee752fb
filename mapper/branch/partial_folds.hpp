// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/deadline.hpp"
#include "mapper/mapper.hpp"

namespace mapsim::exact {

// Partial folds at the edge of a systolic array. A dim of 127 has no divisor that fits an array of
// 32, but 4 folds of 32, the last of 31. This extends a mapspace of perfect factors by the
// unrollings of ceil(bound / n) instances, n = 1, 2, ...; every other extent divides ceil(bound /
// instances), so only the last fold over a dim is partial.
//
// Such a mapping is a perfect mapping of a problem whose bounds are rounded up to whole folds.
// Steps and folds are the same in both. Every other count here is at least the share (product of
// bound / rounded bound) of the count there: tiles are cut into equally many, and the sum of their
// points is a linear or concave function of the bound. So if the rounded problem has energies and
// port bits scaled by this share, its optimum is a lower bound here, and its mapping, evaluated
// here, is a candidate. docs/systolic.md; tests/mapper/partial_folds_test.cpp checks both against
// all such mappings.
//
// search_partial_folds() improves `result`, the result for the mapspace itself, and extends its
// certificate. It finds the unrollings with the best bounds among those with which the array may be
// done sooner than with the best mapping, by branch and bound over dims, and searches them in the
// order of their bounds, until these are no better than the best. If there is none, the
// certificate stays as it is. It does nothing unless has_partial_folds(): the objective
// has latency, there are no other fanouts, and no rules for tiles and loops.
bool has_partial_folds(const Mapspace& space, const Objective& objective);
void search_partial_folds(const Mapspace& space, const SearchOptions& options,
                          const Deadline& deadline, SearchResult& result);

}  // namespace mapsim::exact
