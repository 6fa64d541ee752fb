// SPDX-License-Identifier: Apache-2.0
#include "app/out_of_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/memory_refused.hpp"

// The program's own, which differ from the library's in that a failure tells its size.
void* operator new(std::size_t size) {
  void* const memory = std::malloc(std::max<std::size_t>(1, size));
  return memory != nullptr ? memory : throw mapsim::MemoryRefused{size};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace mapsim {

void say_out_of_memory(const std::bad_alloc& error, const char* bound) {
  constexpr double kGibibyte = 1 << 30;
  std::fprintf(stderr, "mapsim: out of memory: needed about %.2f GiB%s\n",
               static_cast<double>(needed_bytes(error)) / kGibibyte, bound);
}

}  // namespace mapsim
