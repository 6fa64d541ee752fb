// SPDX-License-Identifier: Apache-2.0
#include "core/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/build_paths.hpp"

namespace mapsim::memory_test {
namespace {

#ifdef __GLIBC__
// Of the allocator, after threads have used it at the same time.
std::size_t arenas() {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] { const std::vector<std::string> some(100, std::string(100, 'x')); });
  }
  threads.clear();
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  malloc_info(0, out);
  std::fclose(out);
  const std::unique_ptr<char, decltype(&std::free)> owned{text, std::free};
  const std::string all{text, size};
  std::size_t count = 0;
  for (std::size_t at = 0; (at = all.find("<heap nr", at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

// Exits with the number of arenas of a process of its own.
[[noreturn]] void count_arenas(bool is_limited) {
  if (is_limited) {
    constexpr rlim_t kGibibyte = 1 << 30;
    const rlimit limit{kGibibyte, kGibibyte};
    setrlimit(RLIMIT_AS, &limit);
  }
  keep_freed_memory();
  std::exit(static_cast<int>(arenas()));
}

// Exits with 1 if a block of 4 MiB is one that goes back to the system when it is freed.
[[noreturn]] void map_a_block(std::size_t limit) {
  constexpr std::size_t kBlock = 4 << 20;
  keep_freed_memory(limit);
  const std::vector<char> block(kBlock);
  const volatile char* const read = block.data();  // no optimiser leaves out what is read
  std::exit(mallinfo2().hblkhd >= block.size() + static_cast<std::size_t>(*read) ? 1 : 0);
}

TEST(FreedMemory, OfLargeTablesIsGivenBackWhereSearchesHaveALimit) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer has its own allocator";
  }
  EXPECT_EXIT(map_a_block(std::size_t{32} << 20U), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(map_a_block(std::size_t{128} << 20U), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(map_a_block(std::numeric_limits<std::size_t>::max()), testing::ExitedWithCode(0), "");
}

// Each takes 64 MiB of addresses, and a thread that finds none for its own maps every block.
TEST(Arenas, AreOneWhereAddressesAreLimited) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer has its own allocator, and reserves terabytes of addresses";
  }
  EXPECT_EXIT(count_arenas(true), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(count_arenas(false), [](int status) { return WEXITSTATUS(status) > 1; }, "");
}
#endif

}  // namespace
}  // namespace mapsim::memory_test
