// SPDX-License-Identifier: Apache-2.0
#include "validate/predictions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/gpu_load.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::predictions_test {
namespace {

Gpu a100() { return load_gpu(source_path("configs/arch/a100_80gb.yaml")); }

const std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)> kNoLibrary;

GpuMeasurement measured(GpuPath path, std::int64_t side, std::int64_t extent, double seconds) {
  GpuMeasurement m;
  m.gpu = "a100_80gb";
  m.problem.m = m.problem.n = m.problem.k = extent;
  KernelChoice kernel;
  kernel.path = path;
  kernel.block = {side, side, 32};
  kernel.warp = {side / 2, side / 2, 32};
  kernel.padding = path == GpuPath::kWmma ? 8 : 0;
  m.kernel = kernel;
  m.median = Seconds{seconds};
  return m;
}

TEST(Predictions, ScoreKernelsOfOneProblem) {
  const std::vector<GpuMeasurement> rows{measured(GpuPath::kWmma, 64, 4096, 2e-3),
                                         measured(GpuPath::kWmma, 128, 4096, 1e-3),
                                         measured(GpuPath::kMma, 128, 4096, 0.8e-3)};
  const MeasuredPredictions read = predict_measurements(a100(), rows, kNoLibrary);
  ASSERT_EQ(read.groups.size(), 2U);
  const PredictedGroup& wmma = read.groups[0];
  EXPECT_EQ(wmma.name, "f16, wmma");
  EXPECT_EQ(wmma.all.ranks.problems, 1);
  EXPECT_DOUBLE_EQ(wmma.all.ranks.tau, 1);
  EXPECT_DOUBLE_EQ(wmma.all.ranks.top1, 1);
  EXPECT_NEAR(wmma.blind.random.top1, std::sqrt(2.0), 1e-12);
  ASSERT_EQ(wmma.classes.size(), 1U);
  EXPECT_EQ(wmma.classes[0].name, "min(M, N) > 128");
  EXPECT_EQ(read.groups[1].all.ranks.problems, 0);  // one kernel ranks nothing
  ASSERT_EQ(read.together.size(), 1U);              // but both paths compete
  EXPECT_EQ(read.together[0].kernels, 3);
  EXPECT_EQ(read.together[0].ranks.problems, 1);
}

// Times that the model says itself are without error, within every interval, and in order.
TEST(Predictions, AreWithoutErrorWhereTheModelMeasured) {
  std::vector<GpuMeasurement> rows;
  for (const std::int64_t extent : {64, 1024, 4096}) {
    for (const std::int64_t side : {32, 64, 128}) {
      rows.push_back(measured(GpuPath::kWmma, side, extent, 1));
    }
  }
  const Gpu gpu = a100();
  const MeasuredPredictions first = predict_measurements(gpu, rows, kNoLibrary);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].median = Seconds{first.groups.at(0).kernels[i].predicted};
  }
  const PredictedGroup again = predict_measurements(gpu, rows, kNoLibrary).groups.at(0);
  EXPECT_DOUBLE_EQ(again.all.errors.mape, 0);
  EXPECT_DOUBLE_EQ(again.all.covered, 1);
  EXPECT_DOUBLE_EQ(again.all.ranks.tau, 1);
  EXPECT_GT(first.groups[0].all.errors.mape, 0.9);
  ASSERT_EQ(again.classes.size(), 2U);
  EXPECT_EQ(again.classes[0].name, "min(M, N) <= 128");
  EXPECT_EQ(again.classes[0].errors.count, 3);
  EXPECT_EQ(again.classes[1].errors.count, 6);
}

TEST(Predictions, CountKernelsThatCannotRun) {
  GpuMeasurement odd = measured(GpuPath::kWmma, 64, 4096, 1);
  odd.kernel->stages = 64;
  const MeasuredPredictions read =
      predict_measurements(a100(), {odd, measured(GpuPath::kWmma, 64, 4096, 1)}, kNoLibrary);
  EXPECT_EQ(read.groups.at(0).left_out, 1);
  EXPECT_NE(read.groups[0].first_left_out.find("stages 64"), std::string::npos);
  EXPECT_TRUE(predict_measurements(a100(), {odd}, kNoLibrary).groups.empty());
}

TEST(Predictions, ClassesTellShapesApart) {
  GemmProblem problem;
  const auto name = [&] { return shape_classes().at(shape_class(problem)); };
  problem.m = 16;
  problem.n = 4096;
  EXPECT_EQ(name(), "min(M, N) <= 16");
  problem.m = 17;
  EXPECT_EQ(name(), "min(M, N) <= 128");
  problem.m = 129;
  EXPECT_EQ(name(), "min(M, N) > 128");
  problem.batch = 2;
  EXPECT_EQ(name(), "batched");
  problem.stored_a = 5;
  EXPECT_EQ(name(), "convolution");
}

// A and B of 2048 x 2048 halves are 16.8 MB: 8.2 us at the 2039 GB/s of the A100's DRAM.
TEST(CacheState, IsProvenHotByRowsThatDramCannotFeed) {
  const Gpu gpu = a100();
  std::vector<GpuMeasurement> rows(3, measured(GpuPath::kWmma, 128, 2048, 9e-6));
  CacheEvidence evidence = infer_cache(gpu, rows);
  EXPECT_EQ(evidence.unsaid, 3);
  EXPECT_EQ(evidence.too_fast, 0);
  EXPECT_FALSE(evidence.taken_hot || rows[0].hot);
  rows[1].median = Seconds{7e-6};
  rows[2].cold = true;
  evidence = infer_cache(gpu, rows);
  EXPECT_EQ(evidence.cold, 1);
  EXPECT_EQ(evidence.too_fast, 1);
  EXPECT_TRUE(evidence.taken_hot && rows[0].hot && rows[1].hot && !rows[2].hot);
}

// What the L2 cannot hold (8192 x 8192 halves, twice) proves another thing: a wrong specification.
TEST(CacheState, IsNotProvenByOperandsThatTheCacheCannotHold) {
  std::vector<GpuMeasurement> rows{measured(GpuPath::kWmma, 128, 8192, 1e-6)};
  EXPECT_FALSE(infer_cache(a100(), rows).taken_hot);
}

// Three problems of two kernels: each is given the kernel that is better on the two others.
TEST(Slowdowns, OfOtherProblemsChooseTheFixedKernel) {
  std::vector<Prediction> rows;
  for (const auto& [problem, first, second] :
       {std::tuple{0, 1.0, 2.0}, {1, 1.0, 1.1}, {2, 4.0, 1.0}}) {
    rows.push_back({problem, 1, first, 0});
    rows.push_back({problem, 2, second, 0});
  }
  const auto all = slowdowns(rows);
  EXPECT_NEAR(all.at(1), std::cbrt(4.0), 1e-12);
  EXPECT_NEAR(all.at(2), std::cbrt(2.2), 1e-12);
  const RankMetrics ranks = rank_metrics(without_own_problem(rows));
  // Problem 0 takes the second kernel (2), 1 the second (1.1), 2 the first (4).
  EXPECT_NEAR(ranks.top1, std::cbrt(2.0 * 1.1 * 4.0), 1e-12);
  rows.push_back({2, 3, 0.5, 0});
  EXPECT_EQ(without_own_problem(rows).back().predicted, kUnknownSlowdown);
}

}  // namespace
}  // namespace mapsim::predictions_test
