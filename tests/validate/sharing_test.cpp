// SPDX-License-Identifier: Apache-2.0
// What a fit is worth on a chip or in a format that it has not seen, and what the prior for power
// is worth on boards that their power limit holds: docs/decisions/0045.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "arch/gpu_load.hpp"
#include "costmodel/gpu/library.hpp"
#include "interop/gpu_table.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/golden_table.hpp"
#include "tests/support/in_folder.hpp"
#include "validate/predictions.hpp"

namespace mapsim::sharing_test {
namespace {

Gpu chip(const std::string& name) {
  return load_gpu(source_path("configs/arch/") + name + ".yaml");
}

Gpu uncalibrated(Gpu gpu) {
  gpu.calibrations.clear();
  return gpu;
}

class SharedFits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (goldens().empty()) {
      GTEST_SKIP() << "recorded tables of 4 GPUs not compared: MAPSIM_GOLDENS is not set";
    }
  }

  static std::vector<GpuMeasurement> rows_of(
      const std::string& table, const GpuTableContext& context,
      const std::function<bool(const GpuMeasurement&)>& wanted) {
    const std::string path = goldens() + "/gpu/" + table;
    std::vector<GpuMeasurement> rows = import_gpu_table(contents(path), path, context).measurements;
    std::erase_if(rows, [&](const GpuMeasurement& m) { return !wanted(m); });
    return rows;
  }

  static PredictedGroup predicted(const Gpu& gpu, const std::vector<GpuMeasurement>& rows) {
    PredictedGroup group = predict_measurements(gpu, rows, library_kernels).groups.at(0);
    fmt::print(
        "{} {}: {} rows, MAPE {:.2f} %, bias {:+.2f} %, {:.1f} % within a factor of {:.2f}\n",
        gpu.name, group.name, group.all.errors.count, 100 * group.all.errors.mape,
        100 * group.all.errors.bias, 100 * group.all.covered, std::exp(group.calibration.error));
    return group;
  }
};

// The L20's WMMA fit on a 4090.
TEST_F(SharedFits, OfAnotherChipBeatThePriorAndKeepTheirInterval) {
  const auto rows =
      rows_of("leetcuda_wmma/hgemm_kernels_corrected.csv", {}, [](const GpuMeasurement& m) {
        return m.gpu == "RTX 4090" && m.kernel && m.kernel->path == GpuPath::kWmma;
      });
  const PredictedGroup before = predicted(uncalibrated(chip("rtx4090")), rows);
  const PredictedGroup after = predicted(chip("rtx4090"), rows);
  EXPECT_EQ(after.calibration.fitted_on, "l20");
  EXPECT_EQ(after.all.errors.count, 24);
  EXPECT_LT(after.all.errors.mape, 0.6 * before.all.errors.mape);
  EXPECT_GE(after.all.covered, 0.85);
  EXPECT_GE(after.all.ranks.tau, 0.9);
  EXPECT_LE(after.all.ranks.top1, 1.001);
  // Without the five kernels of 512 threads.
  auto smaller = rows;
  std::erase_if(smaller, [](const GpuMeasurement& m) { return m.kernel->threads() == 512; });
  EXPECT_LT(predicted(chip("rtx4090"), smaller).all.errors.mape, 0.06);
}

// CLBlast's kernels of one GEMM: neither the chip nor the path was ever fitted.
TEST_F(SharedFits, SimtKernelsAreRankedByTheirThreadsAndVectors) {
  const GpuTableContext context{"rtx3090", GpuPrecision::kF32, GemmTile{4096, 4096, 4096}, ""};
  const auto rows = rows_of("kernel_tuner/gemm-RTX_3090.csv", context,
                            [](const GpuMeasurement&) { return true; });
  const PredictedGroup group = predicted(chip("rtx3090"), rows);
  EXPECT_EQ(group.all.errors.count, 4489);
  EXPECT_EQ(group.left_out, 0);
  EXPECT_LT(group.all.errors.mape, 0.22);
  EXPECT_GE(group.all.ranks.tau, 0.69);
  EXPECT_LE(group.all.ranks.top1, 1.03);
}

// The A100's bf16 fit in f16, beyond the host's overhead that is in the four short times.
TEST_F(SharedFits, OfAnotherFormatBeatThePriorAndKeepTheirInterval) {
  const GpuTableContext context{"a100_80gb", GpuPrecision::kF16, {}, ""};
  const auto rows = rows_of("llmcompass/matmul_fp16_a100.csv", context,
                            [](const GpuMeasurement&) { return true; });
  const PredictedGroup before = predicted(uncalibrated(chip("a100_80gb")), rows);
  const PredictedGroup after = predicted(chip("a100_80gb"), rows);
  EXPECT_EQ(after.calibration.precision, GpuPrecision::kBf16);
  EXPECT_LT(after.all.errors.mape, before.all.errors.mape);
  EXPECT_GE(after.all.covered, 0.8);
  const auto long_rows = rows_of("llmcompass/matmul_fp16_a100.csv", context,
                                 [](const GpuMeasurement& m) { return m.median.count() > 1.5e-4; });
  const PredictedGroup long_ones = predicted(chip("a100_80gb"), long_rows);
  EXPECT_LT(long_ones.all.errors.mape, 0.065);
  EXPECT_EQ(long_ones.all.covered, 1);
}

// The T4 sustains less than half of its clock: with energies that are too low it is too fast.
TEST_F(SharedFits, ThePriorForPowerSlowsABoardThatItsLimitHolds) {
  const Gpu t4 = chip("t4");
  Gpu before = t4;
  before.calibrations.emplace_back().power = 1;
  before.energy.mac_f16 = Picojoules{0.7};  // the estimate from the board's peak
  for (const auto& [precision, most] :
       {std::pair{GpuPrecision::kF16, 0.15}, std::pair{GpuPrecision::kF32, 0.26}}) {
    const auto rows = rows_of("deepbench/gemm.csv", {}, [&](const GpuMeasurement& m) {
      return m.gpu == "T4" && m.problem.precision == precision && m.median.count() > 2e-3;
    });
    const PredictedGroup old = predicted(before, rows);
    const PredictedGroup now = predicted(t4, rows);
    EXPECT_LT(now.all.errors.bias, 0);
    EXPECT_GT(now.all.errors.bias, -most);
    EXPECT_LT(old.all.errors.bias, now.all.errors.bias - 0.08);
  }
}

}  // namespace
}  // namespace mapsim::sharing_test
