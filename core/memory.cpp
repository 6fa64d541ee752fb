// SPDX-License-Identifier: Apache-2.0
#include "core/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <fstream>
#include <limits>

namespace mapsim {

namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// A number in a file of its own; a file that is not there, or says "max", limits nothing.
std::size_t number_in(const char* path) {
  std::ifstream file{path};
  std::size_t bytes = 0;
  return file >> bytes ? bytes : kUnlimited;
}

}  // namespace

std::size_t machine_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  std::size_t bytes = pages > 0 && page > 0
                          ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                          : kUnlimited;
  // As a container sees its own control group, of version 2 and 1.
  bytes = std::min(bytes, number_in("/sys/fs/cgroup/memory.max"));
  bytes = std::min(bytes, number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<std::size_t>(space.rlim_cur));
  }
  return bytes;
}

std::size_t search_bytes(int searches) {
  return machine_bytes() / 4 * 3 / static_cast<std::size_t>(std::max(1, searches));
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kGibibyte = 1 << 30;
  constexpr int kTopPad = 64 << 20;
  mallopt(M_MMAP_THRESHOLD, kGibibyte);
  mallopt(M_TRIM_THRESHOLD, kGibibyte);
  mallopt(M_TOP_PAD, kTopPad);
#endif
}

}  // namespace mapsim
