// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_load.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "arch/gpu_print.hpp"
#include "arch/load.hpp"
#include "tests/support/bad_inputs.hpp"

namespace mapsim {
namespace {

std::string good() { return read_bad_inputs("arch/bad_gpus.txt").front().input + "\n"; }

TEST(LoadGpu, ReadsEveryNumber) {
  const Gpu gpu = parse_gpu(good(), "chip.yaml");
  EXPECT_EQ(gpu.name, "chip");
  EXPECT_EQ(gpu.compute_capability, 80);
  EXPECT_EQ(gpu.sms, 108);
  EXPECT_EQ(gpu.clock, Hertz{1.41e9});
  EXPECT_EQ(gpu.shared_per_block, Bytes{163 * 1024});
  EXPECT_EQ(gpu.l2_size, Bytes{40 * 1024 * 1024});
  EXPECT_DOUBLE_EQ(gpu.l2_bandwidth.count(), 5400e9);
  EXPECT_EQ(gpu.l2_per_sm, Bytes{64});
  EXPECT_DOUBLE_EQ(gpu.dram_bandwidth.count(), 2039e9);
  EXPECT_EQ(gpu.latency, (GpuLatency{Cycles{29}, Cycles{295}, Cycles{560}}));
  EXPECT_EQ(gpu.rate(GpuPrecision::kF16), (GpuRate{1024, 800, 256}));
  EXPECT_EQ(gpu.rate(GpuPrecision::kF16, GpuPath::kWmma), 800);
  EXPECT_EQ(gpu.rate(GpuPrecision::kF16, GpuPath::kWgmma), 0);  // Hopper's
  EXPECT_EQ(gpu.rate(GpuPrecision::kFp8, GpuPath::kMma), 0);
  EXPECT_EQ(gpu.power, Milliwatts{400e3});
}

TEST(LoadGpu, FindsTheMostParticularCalibration) {
  const Gpu gpu = parse_gpu(good(), "chip.yaml");
  EXPECT_EQ(gpu.calibration(GpuPrecision::kBf16, GpuPath::kMma).mma, 0.7);
  EXPECT_EQ(gpu.calibration(GpuPrecision::kBf16, GpuPath::kWmma).mma, 0.8);
  EXPECT_EQ(gpu.calibration(GpuPrecision::kF16, GpuPath::kMma).mma, GpuCalibration{}.mma);
}

TEST(LoadGpu, PrintedCalibrationsReadBack) {
  Gpu gpu = parse_gpu(good(), "chip.yaml");
  GpuCalibration& block = gpu.calibrations.front();
  block.launch = Seconds{1.0 / 3e6};
  block.overlap = 10.0 / 3;
  std::string text = good();
  text.erase(text.find("  calibration:"));
  text += "  calibration:\n";
  for (const GpuCalibration& item : gpu.calibrations) {
    text += print_calibration(item);
  }
  EXPECT_EQ(parse_gpu(text, "printed.yaml"), gpu) << text;
}

// All but the bandwidths, which pass through bytes per cycle, to the last bit.
TEST(LoadGpu, PrintedChipsReadBack) {
  for (const auto& entry : std::filesystem::directory_iterator{MAPSIM_SOURCE_DIR "/configs/arch"}) {
    if (entry.is_directory() || !describes_gpu(read_yaml(entry.path().string()))) {
      continue;
    }
    const Gpu gpu = load_gpu(entry.path().string());
    Gpu again = parse_gpu(print_gpu(gpu), "printed.yaml");
    EXPECT_DOUBLE_EQ(again.l2_bandwidth.count(), gpu.l2_bandwidth.count());
    EXPECT_DOUBLE_EQ(again.dram_bandwidth.count(), gpu.dram_bandwidth.count());
    again.l2_bandwidth = gpu.l2_bandwidth;
    again.dram_bandwidth = gpu.dram_bandwidth;
    EXPECT_EQ(again, gpu) << print_gpu(gpu);
  }
}

TEST(LoadGpu, SaysWhatIsWrong) {
  expect_errors("arch/bad_gpus.txt", 12,
                [](const std::string& text) { parse_gpu(text, "chip.yaml"); });
}

TEST(LoadGpu, SurvivesDamage) {
  expect_survival(good(), [](const std::string& text) { parse_gpu(text, "chip.yaml"); });
}

TEST(LoadArch, SaysThatAGpuIsForSearch) {
  EXPECT_THAT(
      error_text([] { parse_arch(good(), "chip.yaml"); }),
      testing::StartsWith("chip.yaml:1:1: a GPU; 'mapsim search', 'network', 'roofline' and "
                          "'calibrate' take it, other commands want 'nodes'"));
}

}  // namespace
}  // namespace mapsim
