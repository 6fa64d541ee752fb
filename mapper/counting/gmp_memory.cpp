// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/gmp_memory.hpp"

#include <gmp.h>

#include <cstdlib>
#include <new>

namespace mapsim {

namespace {

void* given(void* place) { return place != nullptr ? place : throw std::bad_alloc{}; }

}  // namespace

void let_gmp_throw() {
  mp_set_memory_functions(
      [](std::size_t size) { return given(std::malloc(size)); },
      [](void* old, std::size_t, std::size_t size) { return given(std::realloc(old, size)); },
      [](void* place, std::size_t) { std::free(place); });
}

}  // namespace mapsim
