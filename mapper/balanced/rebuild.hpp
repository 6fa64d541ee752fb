// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/balanced/tiles.hpp"
#include "mapper/exact/label_store.hpp"
#include "mapper/exact/skeleton.hpp"

namespace mapsim::balanced {

// The mapping that the steps of a label describe, in canonical form.
Mapping rebuild(const exact::Skeleton& skeleton, const Tiles& tiles,
                const std::vector<exact::Step>& steps);

}  // namespace mapsim::balanced
