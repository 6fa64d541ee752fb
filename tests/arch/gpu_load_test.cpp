// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_load.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include "arch/gpu_print.hpp"
#include "arch/load.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::gpu_load_test {
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

TEST(LoadGpu, TakesTheUsualNamesOfPrecisions) {
  std::string text = good();
  for (const auto& [name, other] : {std::pair{"    f16:", "    half:"}, {"bf16", "bfloat16"}}) {
    ASSERT_NE(text.find(name), std::string::npos) << name;
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
      text.replace(at, std::string{name}.size(), other);
      at += std::string{other}.size();
    }
  }
  EXPECT_EQ(parse_gpu(text, "chip.yaml"), parse_gpu(good(), "chip.yaml"));
  text.insert(text.find("    half:"), "    fp16: {chip: 1}\n");
  EXPECT_THROW(parse_gpu(text, "chip.yaml"), ConfigError);  // a second rate of f16
}

TEST(LoadGpu, FindsTheMostParticularCalibration) {
  const Gpu gpu = parse_gpu(good(), "chip.yaml");
  EXPECT_EQ(gpu.calibration(GpuPrecision::kBf16, GpuPath::kMma).mma, 0.7);
  EXPECT_EQ(gpu.calibration(GpuPrecision::kBf16, GpuPath::kWmma).mma, 0.8);
  EXPECT_EQ(gpu.calibration(GpuPrecision::kS8, GpuPath::kMma).mma, GpuCalibration{}.mma);
}

GpuCalibration block_of(double mma, std::optional<GpuPrecision> precision,
                        const std::string& chip) {
  GpuCalibration block;
  block.mma = mma;
  block.precision = precision;
  block.fitted_on = chip;
  block.fitted_from = "table.csv";
  block.error = 0.15;
  return block;
}

// A chip whose f16, bf16 and f16 summed in f16 are equally fast but for the last one's mma.sync.
Gpu hopper() {
  Gpu gpu;
  gpu.compute_capability = 90;
  for (const GpuPrecision p : {GpuPrecision::kF16, GpuPrecision::kBf16, GpuPrecision::kF16Acc16}) {
    gpu.rates[static_cast<std::size_t>(p)] = {2048, 1324, 256};
  }
  gpu.rates[static_cast<std::size_t>(GpuPrecision::kF16Acc16)].wmma = 1365;
  gpu.rates[static_cast<std::size_t>(GpuPrecision::kS8)] = {2048, 1324, 256};
  return gpu;
}

TEST(SharedCalibration, ServesFormatsAsWideAndAsFast) {
  Gpu gpu = hopper();
  gpu.calibrations = {block_of(0.7, GpuPrecision::kBf16, "")};
  const auto mma = [&](GpuPrecision precision, GpuPath path) {
    return gpu.calibration(precision, path).mma;
  };
  EXPECT_EQ(mma(GpuPrecision::kBf16, GpuPath::kWgmma), 0.7);
  EXPECT_EQ(mma(GpuPrecision::kF16, GpuPath::kWgmma), 0.7);
  EXPECT_EQ(mma(GpuPrecision::kF16, GpuPath::kWmma), 0.7);
  EXPECT_EQ(mma(GpuPrecision::kF16Acc16, GpuPath::kWgmma), 0.7);
  const double prior = GpuCalibration{}.mma;
  EXPECT_EQ(mma(GpuPrecision::kF16Acc16, GpuPath::kMma), prior);  // another rate
  EXPECT_EQ(mma(GpuPrecision::kS8, GpuPath::kWgmma), prior);      // half as wide
  EXPECT_EQ(mma(GpuPrecision::kF16, GpuPath::kSimt), prior);      // other units
}

TEST(SharedCalibration, WidensTheIntervalOnceAndSaysWhatWasMeasured) {
  Gpu gpu = hopper();
  gpu.calibrations = {block_of(0.7, GpuPrecision::kBf16, "")};
  const auto bf16 = gpu.calibration(GpuPrecision::kBf16, GpuPath::kWgmma);
  const auto f16 = gpu.calibration(GpuPrecision::kF16, GpuPath::kWgmma);
  EXPECT_EQ(bf16.error, 0.15);
  EXPECT_DOUBLE_EQ(f16.error, std::hypot(0.15, kSharedError));
  EXPECT_EQ(f16.precision, GpuPrecision::kBf16);
  gpu.calibrations.front().fitted_on = "sibling";
  const auto other_chip = gpu.calibration(GpuPrecision::kBf16, GpuPath::kWgmma);
  EXPECT_EQ(other_chip.fitted_on, "sibling");
  EXPECT_DOUBLE_EQ(other_chip.error, f16.error);
  EXPECT_DOUBLE_EQ(gpu.calibration(GpuPrecision::kF16, GpuPath::kWgmma).error, f16.error);
  EXPECT_EQ(gpu.calibration(GpuPrecision::kS8, GpuPath::kMma).error, GpuCalibration{}.error);
}

TEST(SharedCalibration, ComesAfterWhatIsCloser) {
  Gpu gpu = hopper();
  gpu.calibrations = {block_of(0.5, std::nullopt, ""), block_of(0.6, GpuPrecision::kF16, "sibling"),
                      block_of(0.7, GpuPrecision::kBf16, "")};
  const auto mma = [&] { return gpu.calibration(GpuPrecision::kF16, GpuPath::kWgmma).mma; };
  EXPECT_EQ(mma(), 0.7);  // this chip's, of a like format
  gpu.calibrations.push_back(block_of(0.8, GpuPrecision::kF16, ""));
  EXPECT_EQ(mma(), 0.8);  // this chip's, of this format
  gpu.calibrations.erase(gpu.calibrations.begin() + 2, gpu.calibrations.end());
  EXPECT_EQ(mma(), 0.6);  // another chip's
  gpu.calibrations.pop_back();
  EXPECT_EQ(mma(), 0.5);  // of whatever was not measured
}

TEST(LoadGpu, TakesItsOwnNameForItsOwnFit) {
  std::string text = good();
  text.insert(text.find("fitted_from"), "fitted_on: h200\n      ");
  EXPECT_EQ(parse_gpu(text, "chip.yaml").calibrations.front().fitted_on, "h200");
  text.replace(text.find("h200"), 4, parse_gpu(text, "chip.yaml").name);
  EXPECT_EQ(parse_gpu(text, "chip.yaml").calibrations.front().fitted_on, "");
}

// What stands at its prior is no finding of a fit: it is not written, so that a better prior holds.
TEST(LoadGpu, PrintsNoPriors) {
  GpuCalibration block;
  block.precision = GpuPrecision::kBf16;
  block.dram = 0.8;
  EXPECT_EQ(print_calibration(block, 0), "- precision: bf16\n  dram: 0.8\n");
  block.path = GpuPath::kWmma;
  block.best_fixed = FixedKernel{{128, 64, 32}, {64, 32}, {16, 16, 16}, 3, 1, 8, 8, 1};
  EXPECT_EQ(
      print_calibration(block, 0),
      "- precision: bf16\n  path: wmma\n  dram: 0.8\n  best_fixed: {block: [128, 64, 32], warp: "
      "[64, 32], fragment: [16, 16, 16], stages: 3, split_k: 1, raster: 8, padding: 8, "
      "cluster: 1}\n");
}

TEST(LoadGpu, PrintedCalibrationsReadBack) {
  Gpu gpu = parse_gpu(good(), "chip.yaml");
  GpuCalibration& block = gpu.calibrations.front();
  block.launch = Seconds{1.0 / 3e6};
  block.overlap = 10.0 / 3;
  block.mma = 0.51;
  block.shared = 0.52;
  block.issue = 0.53;
  block.dram = 0.54;
  block.l2 = 0.55;
  block.l2_capacity = 0.56;
  block.stall = 0.57;
  block.power = 0.58;
  block.error = 0.59;
  block.resolution = 0.04;
  block.block = Seconds{1e-6};
  block.ramp = Seconds{2e-6};
  block.reduction = Seconds{3e-6};
  block.settle = Seconds{4e-3};
  block.shortest = Seconds{5e-6};
  block.longest = Seconds{6e-3};
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
  for (const auto& entry : std::filesystem::directory_iterator{source_path("configs/arch")}) {
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
  expect_errors("arch/bad_gpus.txt", 13,
                [](const std::string& text) { parse_gpu(text, "chip.yaml"); });
}

TEST(LoadGpu, SurvivesDamage) {
  expect_survival(good(), [](const std::string& text) { parse_gpu(text, "chip.yaml"); });
}

TEST(LoadArch, SaysThatAGpuIsForSearch) {
  EXPECT_THAT(
      error_text([] { parse_arch(good(), "chip.yaml"); }),
      testing::StartsWith("chip.yaml:1:1: a GPU, which this command does not take; it wants "
                          "'nodes'"));
}

}  // namespace
}  // namespace mapsim::gpu_load_test
