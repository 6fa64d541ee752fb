// SPDX-License-Identifier: Apache-2.0
// Objectives whose values may exceed the largest number are refused; those of usual machines do
// not.
#include "costmodel/objective_range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "arch/load.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::objective_range_test {
namespace {

const ObjectiveFunction kHighest = ObjectiveFunction::product(8, 8);

Arch shipped(const std::string& name) {
  return load_arch(source_path("configs/arch/" + name + ".yaml"));
}
Workload gemm(std::int64_t side) {
  const std::string bound = std::to_string(side);
  return parse_workload(
      "name: gemm\ngemm: {m: " + bound + ", n: " + bound + ", k: " + bound + "}\n", "gemm.yaml");
}

TEST(ObjectiveRange, HoldsAllValuesOfUsualMachines) {
  for (const std::string name : {"eyeriss", "simba_like", "tpu_v1_like", "nvdla_like_1024"}) {
    EXPECT_EQ(range_obstacle(kHighest, shipped(name), {gemm(4096), gemm(4096)}), "") << name;
  }
}

// Whatever is large: operations, memories, networks, leakage, or slow ports.
TEST(ObjectiveRange, IsExceededByHighPowersOfLargeFigures) {
  const Arch usual = shipped("eyeriss");
  const auto change = [&](const auto& how) {
    Arch arch = usual;
    how(arch);
    return range_obstacle(kHighest, arch, {gemm(4)});
  };
  EXPECT_EQ(change([](Arch&) {}), "");
  EXPECT_THAT(
      change([](Arch& arch) { arch.levels[LevelId{0}].energy.read = PicojoulesPerBit{1e36}; }),
      ::testing::HasSubstr("energy^8*latency^8 on eyeriss may exceed 1.8e+308"));
  EXPECT_NE(
      change([](Arch& arch) { arch.levels[LevelId{1}].energy.update = PicojoulesPerBit{1e36}; }),
      "");
  EXPECT_NE(
      change([](Arch& arch) { arch.levels[LevelId{0}].bandwidth.shared = BitsPerCycle{1e-36}; }),
      "");
  EXPECT_NE(change([](Arch& arch) { arch.compute.physical.leakage = Milliwatts{1e36}; }), "");
  // Energy alone is in range.
  Arch arch = usual;
  arch.levels[LevelId{0}].energy.read = PicojoulesPerBit{1e36};
  EXPECT_EQ(range_obstacle(ObjectiveFunction::product(1, 1), arch, {gemm(4)}), "");
}

}  // namespace
}  // namespace mapsim::objective_range_test
