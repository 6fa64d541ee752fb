// SPDX-License-Identifier: Apache-2.0
#include "core/threads.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace mapsim::threads_test {
namespace {

TEST(Threads, VisitEachOnce) {
  for (const int threads : {1, 3}) {
    std::vector<int> visits(1000, 0);
    for_each_on_threads(visits.size(), threads, [&](std::size_t i) { ++visits[i]; });
    EXPECT_EQ(visits, std::vector<int>(1000, 1));
  }
}

TEST(Threads, ThrowWhatWasThrown) {
  for (const int threads : {1, 3}) {
    std::vector<int> visits(100, 0);
    const auto visit = [&](std::size_t i) {
      ++visits[i];
      if (i % 10 == 7) {
        throw std::runtime_error("out of memory");
      }
    };
    EXPECT_THROW(for_each_on_threads(visits.size(), threads, visit), std::runtime_error);
    EXPECT_EQ(visits, std::vector<int>(100, 1));
  }
}

}  // namespace
}  // namespace mapsim::threads_test
