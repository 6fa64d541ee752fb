// SPDX-License-Identifier: Apache-2.0
// The program's own operators new and delete. They differ from the library's in that a failure
// tells its size. No other source is compiled with this one, which could have them inlined;
// sanitizers have their own.
#include <algorithm>
#include <cstdlib>

#include "core/memory_refused.hpp"

void* operator new(std::size_t size) {
  void* const memory = std::malloc(std::max<std::size_t>(1, size));
  return memory != nullptr ? memory : throw mapsim::MemoryRefused{size};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
