// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/mapper.hpp"

namespace mapsim::exact {

// Folds of a systolic array that leave a remainder. A dim of 127 has no divisor that fits an array
// of 32, but 4 folds of 32, the last of 31. Beyond a mapspace of perfect factors are the unrollings
// of ceil(bound / n) instances, n = 1, 2, ...: all else divides what the array leaves, ceil(bound /
// instances), so that only the last fold over a dim is partial.
//
// Such a mapping is a perfect one of a problem whose bounds are rounded up to whole folds. There
// the steps and the folds are the same, and of every other count at least the share product of
// bound / rounded bound is left here: every tile is cut in as many, and the sum of their points is
// a linear or a concave function of the bound. So with energies and the bits of ports times that
// share, the optimum there is a bound here, and its mapping, costed here, a candidate.
// docs/systolic.md; tests/mapper/edge_folds_test.cpp holds both against all such mappings.
//
// Improves `result`, which the mapspace itself gave, and extends its certificate: to unrollings
// with which the array may be done sooner than the best of the mapspace takes, in the order of
// their bounds, until these are no better than the best. None: the certificate stays as it is. An
// energy-only objective, other fanouts, or rules for tiles and loops: nothing is done; that is what
// has_edge_folds() says.
bool has_edge_folds(const Mapspace& space, const Objective& objective);
void search_edge_folds(const Mapspace& space, const SearchOptions& options, SearchResult& result);

}  // namespace mapsim::exact
