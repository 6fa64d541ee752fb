// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/gmp_memory.hpp"

#include <gmp.h>

#include <cstdlib>

#include "core/memory_refused.hpp"

namespace mapsim {

namespace {

void* given(void* place, std::size_t size) {
  return place != nullptr ? place : throw MemoryRefused{size};
}

}  // namespace

void let_gmp_throw() {
  mp_set_memory_functions(
      [](std::size_t size) { return given(std::malloc(size), size); },
      [](void* old, std::size_t, std::size_t size) { return given(std::realloc(old, size), size); },
      [](void* place, std::size_t) { std::free(place); });
}

}  // namespace mapsim
