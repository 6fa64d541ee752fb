// SPDX-License-Identifier: Apache-2.0
#include "validate/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "arch/gpu_load.hpp"
#include "tests/support/build_paths.hpp"
#include "validate/candidates.hpp"
#include "validate/measurements.hpp"

namespace mapsim::verdict_test {
namespace {

class Judging : public ::testing::Test {
 protected:
  // Rows of the fixed tiles on an N x N x N problem, fastest prediction first, whose times are the
  // predictions times these.
  std::vector<GpuMeasurement> rows(std::int64_t n, const std::vector<double>& factors) const {
    std::vector<GpuMeasurement> result;
    GpuMeasurement row;
    row.gpu = gpu_.name;
    row.problem = {n, n, n, 1, GpuPrecision::kF16, Bytes{2}};
    row.clock = gpu_.clock;
    for (const KernelChoice& kernel : fixed_tiles(gpu_, row.problem)) {
      row.kernel = kernel;
      row.kernel->registers = 128;
      row.median = time(row);
      result.push_back(row);
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.median < b.median; });
    result.resize(factors.size());
    for (std::size_t i = 0; i < factors.size(); ++i) {
      result[i].median = Seconds{result[i].median.count() * factors[i]};
    }
    return result;
  }
  Seconds time(const GpuMeasurement& row) const {
    return estimate(gpu_, gpu_.calibration(GpuPrecision::kF16, GpuPath::kWmma), row.problem,
                    *row.kernel)
        .time.total;
  }
  Gpu gpu_ = load_gpu(source_path("configs/arch/h200.yaml"));
};

TEST_F(Judging, GivesErrorsByHand) {
  // Predicted over measured: 1 / 0.8, 1 / 1.25, 1: +25 %, -20 %, 0.
  const ValidationVerdict verdict = judge(gpu_, rows(4096, {0.8, 1.25, 1}), {});
  ASSERT_EQ(verdict.problems.size(), 1U);
  const ProblemVerdict& problem = verdict.problems[0];
  EXPECT_NEAR(problem.errors.mape, 0.15, 1e-12);
  EXPECT_NEAR(problem.errors.bias, 0.05 / 3, 1e-12);
  EXPECT_EQ(problem.name, "f16 4096x4096x4096");
  EXPECT_EQ(verdict.kernels, 3);
}

// What `validate` repeats finds its operands in L2 and follows the one before without a launch,
// whatever its length; what was flushed, or measured by others, does not.
TEST_F(Judging, KnowsWhatIsInL2) {
  gpu_.calibrations.clear();  // the launch is the prior's
  std::vector<GpuMeasurement> row = rows(1024, {1});
  const auto judged = [&] { return judge(gpu_, row, {}).problems.at(0).kernels.at(0).estimate; };
  const GpuEstimate once = judged();
  row[0].origin = "mapsim validate on NVIDIA H200, NVRTC 13.0";
  const GpuEstimate hot = judged();
  EXPECT_EQ(hot.dram_bytes, 0);
  EXPECT_NEAR((once.time.launch - hot.time.launch).count(), GpuCalibration{}.launch.count(), 1e-12);
  row[0].median = Seconds{60e-6};
  EXPECT_EQ(judged().time.launch, hot.time.launch);
  row[0].cold = true;
  EXPECT_EQ(judged().time.total, once.time.total);
  row[0] = rows(1024, {1}).front();
  row[0].hot = true;  // cache: hot
  EXPECT_EQ(parse_measurements(measurements_header() + measurement_rows(row), "m.csv"), row);
  EXPECT_EQ(judged().dram_bytes, 0);
}

TEST_F(Judging, GivesRanksByHand) {
  std::vector<GpuMeasurement> measured = rows(4096, {1, 1, 1, 1});
  // In the order of the prediction: 3, 1, 2, 4 ms. Two of the six pairs are discordant.
  const std::vector<double> times{3e-3, 1e-3, 2e-3, 4e-3};
  for (std::size_t i = 0; i < times.size(); ++i) {
    measured[i].median = Seconds{times[i]};
  }
  ASSERT_LT(time(measured[0]), time(measured[1]));
  const ValidationVerdict verdict = judge(gpu_, measured, {});
  const ProblemVerdict& problem = verdict.problems[0];
  EXPECT_NEAR(problem.ranks.tau, (4 - 2) / 6.0, 1e-12);
  EXPECT_NEAR(problem.ranks.top1, 3, 1e-12);
  EXPECT_NEAR(problem.ranks.top5, 1, 1e-12);
  EXPECT_NEAR(problem.first_to_best, 3, 1e-12);
  // A draw: the geometric mean of 3, 1, 2, 4.
  EXPECT_NEAR(problem.random.top1, std::pow(24, 0.25), 1e-12);
  EXPECT_EQ(problem.best, 1e-3);
}

TEST_F(Judging, HoldsTheBestAgainstLibraryFloorAndCeiling) {
  std::vector<GpuMeasurement> measured = rows(4096, {1, 1});
  measured[0].median = Seconds{400e-6};
  measured[1].median = Seconds{500e-6};
  GpuMeasurement library = measured[0];
  library.kernel.reset();
  library.median = Seconds{200e-6};
  GpuMeasurement naive = measured[1];
  naive.naive = true;
  naive.median = Seconds{3e-3};
  measured.push_back(library);
  measured.push_back(naive);
  const ValidationVerdict verdict = judge(gpu_, measured, {{problem_key(library), "the name"}});
  const ProblemVerdict& problem = verdict.problems[0];
  EXPECT_EQ(problem.name, "the name");
  EXPECT_EQ(problem.kernels.size(), 2U);
  EXPECT_DOUBLE_EQ(problem.library_to_best, 0.5);
  EXPECT_EQ(problem.naive, 3e-3);
  // 4096^3 / (1324 x 132 x 1830 MHz) = 214.9 us, of 400 us.
  EXPECT_NEAR(problem.share_of_ceiling, 0.5372, 1e-4);
  EXPECT_DOUBLE_EQ(verdict.library_to_best, 0.5);
}

// The static best is chosen on the other problems.
TEST_F(Judging, ChoosesTheStaticBestElsewhere) {
  std::vector<GpuMeasurement> all;
  for (const std::int64_t n : {1024, 2048, 4096}) {
    std::vector<GpuMeasurement> measured = rows(n, {1, 1, 1});
    std::sort(measured.begin(), measured.end(),
              [](const auto& a, const auto& b) { return *a.kernel < *b.kernel; });
    // The first kernel is best on two problems, but loses by two on the third.
    const bool is_last = n == 4096;
    measured[0].median = Seconds{is_last ? 2e-3 : 1e-3};
    measured[1].median = Seconds{is_last ? 1e-3 : 1.5e-3};
    measured[2].median = Seconds{4e-3};
    all.insert(all.end(), measured.begin(), measured.end());
  }
  const ValidationVerdict verdict = judge(gpu_, all, {});
  EXPECT_NEAR(verdict.problems[2].fixed.top1, 2, 1e-12);
  // Of the first: on the two others the first kernel lost sqrt(1 x 2), the second sqrt(1.5 x 1).
  EXPECT_NEAR(verdict.problems[0].fixed.top1, 1.5, 1e-12);
}

TEST_F(Judging, WritesJsonOfTheSameFigures) {
  const ValidationVerdict verdict = judge(gpu_, rows(4096, {0.8, 1.25, 1}), {});
  const std::vector<std::string> refusals{"x: wrong"};
  const auto json = nlohmann::json::parse(verdict_json("{}", gpu_, verdict, refusals));
  EXPECT_NEAR(json["errors"]["mape"].get<double>(), 0.15, 1e-12);
  EXPECT_EQ(json["problems"][0]["kernels"].size(), 3U);
  EXPECT_EQ(json["refused"][0], "x: wrong");
  EXPECT_TRUE(json["problems"][0]["library_s"].is_null());
}

TEST(MeasurementsFile, KeepsWhatValidationAdds) {
  GpuMeasurement row;
  row.gpu = "h200";
  row.problem = {3136, 64, 576, 1, GpuPrecision::kF16, Bytes{2}};
  row.problem.stored_a = 200704;
  row.problem.run_a = row.problem.run_b = 64;
  row.kernel = KernelChoice{};
  row.median = Seconds{1e-5};
  row.least = Seconds{0.9e-5};
  row.cold = true;
  row.naive = true;
  row.convolution = "n1 h56";
  row.throttle = "power cap, thermal";
  row.watts = 512.5;
  const auto read = parse_measurements(measurements_header() + measurement_rows({row}), "m.csv");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0], row);
}

TEST(MeasurementsFile, OfAnEarlierVersionGetsItsNewColumns) {
  const std::string old =
      "# mapsim measurements 1\ngpu,precision,m,n,k,batch,output_bytes,a,b,path,time_s\n"
      "a100,bf16,1,2,3,1,2,row,column,,0.5\n";
  const std::string grown = with_all_columns(old, "m.csv");
  EXPECT_EQ(grown.substr(0, measurements_header().size()), measurements_header());
  EXPECT_EQ(parse_measurements(grown, "m.csv"), parse_measurements(old, "m.csv"));
  EXPECT_EQ(with_all_columns(grown, "m.csv"), grown);
}

}  // namespace
}  // namespace mapsim::verdict_test
