// SPDX-License-Identifier: Apache-2.0
#include "app/startable_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <latch>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace mapsim {

namespace {

// Of so many beside the calling one.
int startable(int wanted) {
  std::latch counted{1};
  std::vector<std::jthread> others;
  try {
    for (int i = 0; i < wanted; ++i) {
      others.emplace_back([&counted] { counted.wait(); });
    }
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {  // these are all that there can be
  }
  counted.count_down();
  return static_cast<int>(others.size());
}

}  // namespace

int threads_to_use(int wanted) {
  const int threads = wanted > 1 ? std::max(1, startable(wanted)) : wanted;
  if (threads < wanted) {
    fmt::print(stderr, "mapsim: {} of {} threads: a limit{} allows no more\n", threads, wanted,
               kLimitsOfThreads);
  }
  return threads;
}

}  // namespace mapsim
