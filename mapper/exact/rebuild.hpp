// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/exact/labels.hpp"

namespace mapsim::exact {

// The mapping that the steps of a label describe, in canonical form.
Mapping rebuild(const Skeleton& skeleton, const Unrolled& unrolled, const Unrolling& unrolling,
                const std::vector<Step>& steps);

// The mapping of an unrolling with the smallest tiles: all temporal loops outermost, and only what
// must be kept is kept. If it does not fit, nothing does; its evaluation says why.
Mapping leanest(const Mapspace& space, const UnrollingGroup& group);

}  // namespace mapsim::exact
