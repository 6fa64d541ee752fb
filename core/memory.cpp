// SPDX-License-Identifier: Apache-2.0
#include "core/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <limits>

#include "core/cgroup.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

}  // namespace

std::size_t machine_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  std::size_t bytes = pages > 0 && page > 0
                          ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                          : kUnlimited;
  bytes = std::min(bytes, cgroup_bytes("/proc/self/cgroup", "/sys/fs/cgroup"));
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<std::size_t>(space.rlim_cur));
  }
  return bytes;
}

std::size_t search_bytes(int searches) {
  return machine_bytes() / 4 * 3 / static_cast<std::size_t>(std::max(1, searches));
}

void keep_freed_memory([[maybe_unused]] std::size_t limit) {
#ifdef __GLIBC__
  constexpr std::size_t kLeast = 128 << 10;  // glibc's default
  constexpr std::size_t kMost = 1 << 30;
  constexpr int kTopPad = 64 << 20;
  const auto large = static_cast<int>(std::clamp(limit / 16, kLeast, kMost));
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, large);
  mallopt(M_TOP_PAD, std::min(large, kTopPad));
  rlimit space{};  // an arena takes 64 MiB of addresses; a thread without one maps every block
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    mallopt(M_ARENA_MAX, 1);
  }
#endif
}

}  // namespace mapsim
