// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include "core/caught.hpp"

namespace mapsim {

// Calls visit(i) for i = 0 .. count - 1 on `threads` threads, each of which takes the next one when
// it is free. The first exception is thrown again when all have returned.
template <class Visit>
void for_each_on_threads(std::size_t count, int threads, const Visit& visit) {
  Caught caught;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) shared(caught, visit)
  for (std::size_t i = 0; i < count; ++i) {
    caught.run([&] { visit(i); });
  }
  caught.rethrow();
}

}  // namespace mapsim
