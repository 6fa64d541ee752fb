// SPDX-License-Identifier: Apache-2.0
// What is resident while a search has little memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "arch/load.hpp"
#include "core/memory.hpp"
#include "mapper/mapper.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::small_memory_test {
namespace {

long most_resident() {  // [KiB]
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Classes for which memory is too short are searched on a part of their tiles, which took 40 MiB.
TEST(SmallMemory, BoundsWhatPartsOfTilesTake) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers keep what is freed";
  }
  const std::string configs = source_path("configs/");
  const Problem problem{load_arch(configs + "arch/simba_package.yaml"),
                        load_workload(configs + "workloads/vgg16/conv3_2.yaml")};
  SearchOptions options{Objective::kEdp};
  options.budget.bytes = std::size_t{1} << 20U;
  options.budget.seconds = 0.5;
  keep_freed_memory(options.budget.bytes);
  const long before = most_resident();
  const SearchResult found = search_exact(Mapspace{problem, {}}, options);
  EXPECT_TRUE(found.cost);
  EXPECT_GT(found.statistics.out_of_memory, 0);
  EXPECT_LT(most_resident() - before, 24 << 10);
}

// 672 classes of unrollings.
TEST(SmallMemory, CountsListsOfUnrollings) {
  const Problem problem{load_arch(source_path("configs/arch/edge.yaml")),
                        parse_workload("name: conv\nconv2d: {in_channels: 61, out_channels: 97, "
                                       "input: [123, 123], kernel: [3, 3], stride: 2, batch: 2}\n",
                                       "conv.yaml")};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  const std::size_t listed = space.unrolling_classes().size() * sizeof(UnrollingClass);
  SearchOptions options;
  options.budget.seconds = 0;  // for tables
  EXPECT_GE(search_exact(space, options).statistics.peak_bytes, listed);
  options.budget.bytes = listed / 2;
  const SearchResult found = search_exact(space, options);
  EXPECT_TRUE(found.cost);
  EXPECT_EQ(found.statistics.peak_bytes, options.budget.bytes);
}

}  // namespace
}  // namespace mapsim::small_memory_test
