// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arch/arch.hpp"

namespace mapsim {

// Copies of each tile that a level holds: a double-buffered one receives the next tile while it
// serves the current one. Tiles may use capacity / copies, and need copies times their size.
inline int copies_of(const Storage& level) { return level.double_buffered ? 2 : 1; }

}  // namespace mapsim
