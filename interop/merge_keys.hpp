// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "core/document.hpp"

namespace mapsim {

// Replaces the keys << and <<< of every map by the entries of the maps that they name. Own keys
// win, then earlier maps of a list. With <<<, maps inside of both are merged in the same way, and a
// list gets the other's items after its own, unless it is tagged !nomerge.
void merge_keys(Node& node);

}  // namespace mapsim
