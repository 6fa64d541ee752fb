// SPDX-License-Identifier: Apache-2.0
#include "app/startable_threads.hpp"

#include <latch>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace mapsim {

int startable_threads(int wanted) {
  std::latch counted{1};
  std::vector<std::jthread> others;
  try {
    for (int i = 1; i < wanted; ++i) {
      others.emplace_back([&counted] { counted.wait(); });
    }
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {  // these are all that there can be
  }
  counted.count_down();
  return 1 + static_cast<int>(others.size());
}

}  // namespace mapsim
