// SPDX-License-Identifier: Apache-2.0
#include "costmodel/mapping_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "arch/load.hpp"
#include "tests/costmodel/random_case.hpp"
#include "tests/support/bad_inputs.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::mapping_text_test {
namespace {

Arch small_machine() {
  return parse_arch(
      "name: toy\n"
      "nodes:\n"
      "  - {storage: DRAM, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
      "  - {fanout: PEs, x: 4, y: 2}\n"
      "  - {storage: RF, capacity: 64 B, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
      "  - {compute: MAC, energy: 1 pJ}\n",
      "toy.yaml");
}

Workload small_gemm() { return gemm("small", {8, 4, 6, {}, false}); }

Mapping parse(const std::string& text) {
  return parse_mapping(text, "map.yaml", small_machine(), small_gemm());
}

TEST(MappingText, IsTheListOfNodes) {
  const TensorId a{0};
  const TensorId b{1};
  const TensorId z{2};
  const Mapping mapping{{Keep{LevelId{0}, {a, b, z}}, Temporal{DimId{0}, 4},
                         Parallel{DimId{0}, 1, FanoutId{0}, Axis::kX},
                         Parallel{DimId{1}, 2, FanoutId{0}, Axis::kY}, Temporal{DimId{1}, 1},
                         Keep{LevelId{1}, {a, z}}, Temporal{DimId{2}, 1}}};
  const std::string text =
      "mapping:\n"
      "  - keep DRAM: [A, B, Z]\n"
      "  - for M: 4\n"
      "  - parallel M: 1 over X of PEs\n"
      "  - parallel N: 2 over Y of PEs\n"
      "  - for N: 1\n"
      "  - keep RF: [A, Z]\n"
      "  - for K: 1\n";
  EXPECT_EQ(print_mapping(small_machine(), small_gemm(), mapping), text);
  EXPECT_EQ(parse(text), mapping);
}

TEST(MappingText, ReadsBackWhateverItPrints) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const auto [arch, workload, mapping] = random_case(seed);
    const std::string text = print_mapping(arch, workload, mapping);
    EXPECT_EQ(parse_mapping(text, "map.yaml", arch, workload), mapping) << text;
  }
}

TEST(MappingText, TakesNamesInAnyOrderAndBlanksBetweenWords) {
  EXPECT_EQ(parse("mapping:\n  - keep  DRAM : [Z, B, A]\n  - for M: 1\n  - for K: 1\n"
                  "  - parallel   N:  1  over  X  of  PEs\n"),
            parse("mapping:\n- keep DRAM: [A, B, Z]\n- for M: 1\n- for K: 1\n"
                  "- parallel N: 1 over X of PEs\n"));
}

TEST(MappingText, TellsAllThatIsWrong) { expect_errors("costmodel/bad_mappings.txt", 22, parse); }

TEST(MappingText, SurvivesDamagedFiles) {
  expect_survival(
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 4\n  - parallel M: 1 over X of PEs\n"
      "  - for N: 1\n  - keep RF: [A, B]\n  - for K: 1\n",
      parse);
}

}  // namespace
}  // namespace mapsim::mapping_text_test
