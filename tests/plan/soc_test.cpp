// SPDX-License-Identifier: Apache-2.0
#include "plan/soc.hpp"

#include <gmock/gmock.h>

#include "core/diagnostic.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::soc_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kConfigs = source_path("configs");

Soc shipped(const std::string& name) {
  return load_soc(kConfigs + "/soc/" + name + ".yaml", {kConfigs});
}

// Line, column and message of all that is wrong with a chip.
std::vector<std::string> problems(const std::string& body) {
  try {
    read_soc(parse_yaml("name: chip\nsoc:\n" + body, "chip.yaml"), {kConfigs});
  } catch (const ConfigError& error) {
    std::vector<std::string> all;
    for (const Diagnostic& each : error.diagnostics()) {
      all.push_back(std::to_string(each.line) + ":" + std::to_string(each.column) + ": " +
                    each.message);
    }
    return all;
  }
  return {};
}

const std::string kMemory =
    "  memory: {bandwidth: 10 GB/s, capacity: 1 GB, energy: {read: 8 pJ/B, write: 16 pJ/B}}\n";
const std::string kTwo =
    "  engines:\n"
    "    - {name: a, arch: teaching, formats: [linear]}\n"
    "    - {name: b, arch: systolic_32x32, formats: [tiled]}\n";

TEST(Soc, ReplacesTheMemoriesOfItsEngines) {
  const Soc soc = shipped("jetson_agx_orin");
  ASSERT_EQ(soc.engines.size(), 2U);
  const Gpu& gpu = std::get<Gpu>(soc.engines[0].machine);
  EXPECT_EQ(gpu.dram_bandwidth, BytesPerSecond{204.8e9});
  EXPECT_EQ(gpu.calibration(GpuPrecision::kS8, GpuPath::kMma).dram, 0.9);
  const Arch& dla = std::get<Arch>(soc.engines[1].machine);
  EXPECT_DOUBLE_EQ(dla.levels.begin()->bandwidth.shared->count(), 60e9 * 8 / 1.6e9);
  EXPECT_EQ(dla.levels.begin()->energy.read, PicojoulesPerBit{36.0 / 8});
  EXPECT_EQ(soc.engines[1].count, 2);
  EXPECT_EQ(soc.engines[1].widths, (std::vector<std::int64_t>{8, 16}));
}

TEST(Soc, GivesAnEngineNoMoreThanTheMemoryHas) {
  const Soc soc =
      read_soc(parse_yaml("name: chip\nsoc:\n" + kMemory +
                              "  engines:\n    - {name: a, arch: teaching, port: 1 TB/s}\n",
                          "chip.yaml"),
               {kConfigs});
  const Storage& outermost = *std::get<Arch>(soc.engines[0].machine).levels.begin();
  EXPECT_DOUBLE_EQ(outermost.bandwidth.shared->count(), 10e9 * 8 / 1e9);
  EXPECT_EQ(outermost.energy.write, PicojoulesPerBit{2});
}

TEST(Soc, LaunchesKernelsInEitherMode) {
  const Soc soc = shipped("jetson_agx_orin");
  const auto launch = [&soc](LaunchMode mode) {
    return std::get<Gpu>(machine_of(soc.engines[0], mode))
        .calibration(GpuPrecision::kS8, GpuPath::kMma)
        .launch;
  };
  EXPECT_EQ(launch(LaunchMode::kGraph), Seconds{2.5e-6});
  EXPECT_EQ(launch(LaunchMode::kStream), Seconds{6e-6});
}

TEST(Soc, IsAnArchitectureAlone) {
  const Soc soc = load_soc(kConfigs + "/arch/teaching.yaml", {kConfigs});
  ASSERT_EQ(soc.engines.size(), 1U);
  EXPECT_EQ(soc.engines[0].name, "teaching");
  EXPECT_EQ(soc.memory.bandwidth, BytesPerSecond{8e9});
}

TEST(Soc, SaysWhereMemoryLacksItsEnergy) {
  EXPECT_THAT(problems("  memory: {bandwidth: 10 GB/s, capacity: 1 GB}\n" + kTwo),
              ElementsAre("3:11: missing key 'energy'"));
}

TEST(Soc, RefusesARateByTheCycle) {
  EXPECT_THAT(
      problems("  memory: {bandwidth: 8 B/cycle, capacity: 1 GB, energy: {read: 1 pJ/B, write: 1 "
               "pJ/B}}\n" +
               kTwo),
      ElementsAre("3:23: '8 B/cycle' is a rate by the cycle; give bytes a second: 204.8 GB/s"));
}

TEST(Soc, RefusesFormatsWithoutAPath) {
  EXPECT_THAT(problems(kMemory + kTwo + "  transitions:\n    - {from: a, to: b, sync: 1 us}\n"),
              ElementsAre("8:7: a and b have no format in common; `reformat` says which engine "
                          "converts"));
}

TEST(Soc, RefusesEnginesThatAreNotThere) {
  EXPECT_THAT(problems(kMemory + kTwo + "  transitions:\n    - {from: a, to: c, reformat: a}\n"),
              ElementsAre(HasSubstr("8:21: ")));
}

TEST(Soc, RefusesTwoTransitionsOfOneKind) {
  EXPECT_THAT(problems(kMemory + kTwo +
                       "  transitions:\n    - {from: a, to: b, reformat: a}\n"
                       "    - {from: a, to: b, reformat: b}\n"),
              ElementsAre("9:7: a second transition from a to b"));
}

TEST(Soc, RefusesOperatorsThatNobodyKnows) {
  EXPECT_THAT(
      problems(kMemory + "  engines:\n    - {name: a, arch: teaching, operators: [Conf]}\n"),
      ElementsAre("5:44: no operator is called 'Conf'; names are those of ONNX: Conv, "
                  "Gemm, MaxPool"));
}

TEST(Soc, RefusesTwoEnginesOfOneName) {
  EXPECT_THAT(problems(kMemory + "  engines:\n    - {name: a, arch: teaching}\n"
                                 "    - {name: a, arch: teaching}\n"),
              ElementsAre("6:7: a second engine 'a'; `count` says how many there are of one kind"));
}

TEST(Soc, RefusesALaunchOfWhatIsNoGpu) {
  EXPECT_THAT(problems(kMemory + "  engines:\n    - {name: a, arch: teaching, launch: 1 us}\n"),
              ElementsAre("5:41: 'launch' is for GPUs; other engines have an 'overhead'"));
}

TEST(Soc, SaysThatTheFileOfAnEngineIsMissing) {
  EXPECT_THAT(problems(kMemory + "  engines:\n    - {name: a, arch: nowhere}\n"),
              ElementsAre(HasSubstr("5:23: no such file: 'nowhere'")));
}

}  // namespace
}  // namespace mapsim::soc_test
