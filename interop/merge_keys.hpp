// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "core/document.hpp"

namespace mapsim {

// Replaces the keys << and <<< of every map by what they bring in. Own keys win, then earlier maps
// of a list. Under <<< a map inside of both is merged likewise, and a list gets the other's items
// behind its own, unless it is tagged !nomerge.
void merge_keys(Node& node);

}  // namespace mapsim
