// SPDX-License-Identifier: Apache-2.0
#include "core/memory_refused.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace mapsim {

std::size_t needed_bytes(const std::bad_alloc& error) {
  constexpr std::size_t kKibibyte = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::size_t had = static_cast<std::size_t>(usage.ru_maxrss) * kKibibyte;
  rlimit space{};  // of addresses: if it is limited, it is used up
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    had = std::max(had, static_cast<std::size_t>(space.rlim_cur));
  }
  const auto* refused = dynamic_cast<const MemoryRefused*>(&error);
  return had + (refused != nullptr ? refused->bytes() : 0);
}

}  // namespace mapsim
