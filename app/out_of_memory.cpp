// SPDX-License-Identifier: Apache-2.0
#include "app/out_of_memory.hpp"

#include <cstdio>

#include "core/memory_refused.hpp"

namespace mapsim {

void say_out_of_memory(const std::bad_alloc& error, const char* bound) {
  constexpr double kGibibyte = 1 << 30;
  std::fprintf(stderr, "mapsim: out of memory: needed about %.2f GiB%s\n",
               static_cast<double>(needed_bytes(error)) / kGibibyte, bound);
}

}  // namespace mapsim
