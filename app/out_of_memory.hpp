// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <new>

namespace mapsim {

// Says on standard error about how much memory was needed, and what bounds it: an option, or "".
// Allocates nothing.
void say_out_of_memory(const std::bad_alloc& error, const char* bound);

}  // namespace mapsim
