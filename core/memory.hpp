// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>

namespace mapsim {

// Memory that this process may have [B]: the least of the machine's memory, its control group's
// limit and its address space's limit. The largest number if none is known.
std::size_t machine_bytes();

// The default memory of each of `searches` concurrent searches: three quarters in all.
std::size_t search_bytes(int searches = 1);

// Keeps memory that is freed, for the whole process. A search takes and frees tables of megabytes
// all the time. By default glibc gives each back to the system, which clears its pages anew the
// next time: half the time of a search of thousands of unrollings. Without glibc it does nothing.
// `limit`: of the memory of searches [B]; blocks of a sixteenth of it are given back all the same.
void keep_freed_memory(std::size_t limit = std::numeric_limits<std::size_t>::max());

}  // namespace mapsim
