// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/search_within.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace mapsim {

SearchResult search_within(const Mapspace& space, const Objective& objective,
                           std::chrono::seconds limit) {
  std::atomic<bool> stop{false};
  const std::jthread clock{[&](const std::stop_token& finished) {
    std::mutex mutex;
    std::condition_variable_any condition;
    std::unique_lock lock{mutex};
    condition.wait_for(lock, finished, limit, [] { return false; });
    stop = true;
  }};
  SearchOptions options;
  options.objective = objective;
  options.threads = 2;
  options.stop = &stop;
  return search_exact(space, options);
}

}  // namespace mapsim
