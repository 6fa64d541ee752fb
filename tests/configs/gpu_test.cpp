// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "arch/gpu_load.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::gpu_test {
namespace {

const std::string kArch = source_path("configs/arch/");

// Published dense peaks, multiply and add counted as two: fp16 with fp32 sums, int8.
struct Published {
  std::string name;
  double tflops;
  double tops;
  double gbps;
};
const std::vector<Published> kGpus{{"h200", 989.4, 1978.9, 4800},
                                   {"h100_sxm", 989.4, 1978.9, 3350},
                                   {"h100_pcie", 756.5, 1513, 2000},
                                   {"a100_40gb", 312, 624, 1555},
                                   {"a100_80gb", 312, 624, 2039},
                                   {"a10", 125, 250, 600},
                                   {"l4", 121, 242.5, 300},
                                   {"l20", 119.5, 239, 864},
                                   {"t4", 65, 130, 320},
                                   {"v100", 125, 0, 900},
                                   {"rtx3090", 71, 284, 936},
                                   {"rtx4090", 165.2, 660.6, 1008},
                                   {"jetson_orin", 42.6, 85, 204.8},
                                   {"jetson_xavier", 11.3, 22.6, 136.5}};

TEST(ShippedGpus, HaveThePublishedPeaks) {
  for (const Published& published : kGpus) {
    const Gpu gpu = load_gpu(kArch + published.name + ".yaml");
    EXPECT_EQ(gpu.name, published.name);
    const double per_rate = 2e-12 * static_cast<double>(gpu.sms) * gpu.clock.count();
    EXPECT_NEAR(gpu.rate(GpuPrecision::kF16).chip * per_rate, published.tflops,
                0.012 * published.tflops)
        << gpu.name;
    EXPECT_NEAR(gpu.rate(GpuPrecision::kS8).chip * per_rate, published.tops, 0.012 * published.tops)
        << gpu.name;
    EXPECT_NEAR(gpu.dram_bandwidth.count(), published.gbps * 1e9, 1e6) << gpu.name;
    EXPECT_GT(gpu.rate(GpuPrecision::kF32).simt, 0) << gpu.name;
    EXPECT_EQ(gpu.rate(GpuPrecision::kBf16).chip > 0, gpu.compute_capability >= 80) << gpu.name;
    EXPECT_EQ(gpu.rate(GpuPrecision::kFp8).chip > 0, gpu.compute_capability >= 89) << gpu.name;
  }
}

TEST(ShippedGpus, GiveEveryNumberASourceAndAStatus) {
  const std::regex number{R"(^ +\w+: [0-9][^#]*)"};
  const std::regex sourced{
      R"(^ +\w+: [^#]+ # \[(\w)\] (confirmed|corrected|measured|derived|estimate|memory|unverified)\b.*)"};
  for (const Published& published : kGpus) {
    std::ifstream file{kArch + published.name + ".yaml"};
    std::string head;
    int numbers = 0;
    for (std::string line; std::getline(file, line) && !line.starts_with("  calibration:");) {
      if (line.starts_with("#")) {
        head += line + "\n";
      }
      if (std::regex_search(line, number)) {
        std::smatch match;
        ASSERT_TRUE(std::regex_match(line, match, sourced)) << published.name << ": " << line;
        EXPECT_NE(head.find("# [" + match[1].str() + "] "), std::string::npos) << line;
        ++numbers;
      }
    }
    EXPECT_GT(numbers, 30) << published.name;
  }
}

std::string shipped(const std::string& chip) { return kArch + chip + ".yaml"; }

TEST(ShippedGpus, SayWhereTheirCalibrationsAreFrom) {
  std::vector<std::string> calibrated;
  for (const Published& published : kGpus) {
    const Gpu gpu = load_gpu(shipped(published.name));
    for (const GpuCalibration& block : gpu.calibrations) {
      if (!block.precision) {  // what was not measured: the launch is the same
        GpuCalibration others;
        others.launch = block.launch;
        others.fitted_on = block.fitted_on;
        EXPECT_EQ(block, others) << gpu.name;
        continue;
      }
      EXPECT_FALSE(block.fitted_from.empty()) << gpu.name;
      EXPECT_LT(block.error, GpuCalibration{}.error) << gpu.name;
    }
    if (!gpu.calibrations.empty()) {
      calibrated.push_back(gpu.name);
    }
  }
  EXPECT_THAT(calibrated, testing::ElementsAre("h200", "h100_sxm", "h100_pcie", "a100_40gb",
                                               "a100_80gb", "l20", "rtx4090"));
}

// A shared block is its chip's, word for word, and of the same architecture.
TEST(ShippedGpus, ShareBlocksWithinAnArchitecture) {
  int shared = 0;
  for (const Published& published : kGpus) {
    const Gpu gpu = load_gpu(shipped(published.name));
    for (GpuCalibration block : gpu.calibrations) {
      if (block.fitted_on.empty()) {
        continue;
      }
      const Gpu source = load_gpu(shipped(block.fitted_on));
      EXPECT_EQ(source.compute_capability, gpu.compute_capability) << gpu.name;
      block.fitted_on.clear();
      EXPECT_THAT(source.calibrations, testing::Contains(block)) << gpu.name;
      ++shared;
    }
  }
  EXPECT_EQ(shared, 7);
}

TEST(ShippedGpus, AreFoundUnderTheirOldPaths) {
  for (const std::string name : {"h200", "a100_80gb", "l20"}) {
    EXPECT_EQ(load_gpu(shipped("calibrated/" + name)), load_gpu(shipped(name)));
  }
}

}  // namespace
}  // namespace mapsim::gpu_test
