// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <variant>

#include "arch/load.hpp"
#include "costmodel/busiest.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::sparse_golden_test {
namespace {

// One layer of the pruned MobileNet whose masks are public, and the published cycles of one PE.
struct Layer {
  const char* name = "";
  int channels = 0, kernels = 0, pixels = 0;
  std::int64_t cycles = 0;
};
constexpr Layer kLayers[] = {
    {"L07", 64, 64, 1024, 1702140}, {"L09", 64, 128, 256, 1499682}, {"L13", 128, 256, 64, 1144158},
    {"L19", 256, 256, 64, 1457458}, {"L21", 256, 256, 64, 1677684}, {"L23", 256, 256, 64, 1821557},
    {"L25", 256, 512, 16, 948572},  {"L27", 512, 512, 16, 775316},
};

// Published cycles are met to the digit: the masks know which channels are dense in both tensors.
TEST(SparseGolden, EyerissV2CyclesAreThoseOfTheMasks) {
  const char* goldens = std::getenv("MAPSIM_GOLDENS");
  if (goldens == nullptr) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder: 8 layers skipped";
  }
  const std::string folder = fmt::format("{}/sparse/eyeriss_v2/", goldens);
  const Arch arch = load_arch(source_path("configs/arch/eyeriss_v2_pe.yaml"));
  for (const Layer& layer : kLayers) {
    const Workload workload = parse_workload(
        fmt::format("name: {}\n"
                    "einsum: {{equation: 'O[P][M] += I[P][C] * W[M][C]', dims: {{P: {}, M: {}, "
                    "C: {}}}}}\n"
                    "density: {{I: data {}_iacts.txt, W: data {}_weights.txt}}\n",
                    layer.name, layer.pixels, layer.kernels, layer.channels, layer.name,
                    layer.name),
        folder + "layer.yaml");
    const Problem problem(arch, workload);
    const Mapping mapping = parse_mapping(
        "mapping:\n  - keep DRAM: [I, W, O]\n  - for P: 1\n  - for M: 1\n  - for C: 1\n", "m.yaml",
        arch, workload);
    const Evaluation evaluation = evaluate(problem, mapping);
    const Cost& cost = std::get<Cost>(evaluation);
    EXPECT_EQ(cost.latency.steady.count(), layer.cycles) << layer.name;
    EXPECT_NEAR(cost.sparse->operations, static_cast<double>(layer.cycles), 1e-3) << layer.name;
  }
}

// Cycles of a GEMM of 4096^3 on the dual-side sparse tensor core, relative to the dense one, by
// density of both operands: ISCA 2021, figure 21. Nothing is fitted.
TEST(SparseGolden, DualSideTensorCoreIsWithinEightPercent) {
  struct Point {
    double a, b, published;
  };
  constexpr Point kPoints[] = {{1, 0.4, 0.543},   {0.9, 1, 0.904},   {0.9, 0.4, 0.500},
                               {0.7, 1, 0.717},   {0.7, 0.4, 0.396}, {0.5, 1, 0.585},
                               {0.5, 0.4, 0.322}, {0.3, 1, 0.420},   {0.3, 0.4, 0.239}};
  const Arch arch = load_arch(source_path("configs/arch/dual_side_tensor_core.yaml"));
  double sum = 0;
  for (const Point& point : kPoints) {
    const Problem problem{
        arch, parse_workload(fmt::format("name: w\ngemm: {{m: 4096, n: 4096, k: 4096}}\nprecision: "
                                         "{{input: 16 b, weight: 16 b, output: 16 b, partial: 32 "
                                         "b}}\ndensity: {{A: {}, B: {}}}\n",
                                         point.a, point.b),
                             "w.yaml")};
    const Mapping mapping = load_mapping(source_path("configs/mappings/dual_side_gemm.yaml"),
                                         problem.arch(), problem.workload());
    const Cost cost = std::get<Cost>(evaluate(problem, mapping));
    const auto busiest = busiest_instance(problem, mapping, cost);
    ASSERT_TRUE(busiest);
    const double share = busiest->steps / static_cast<double>(cost.counts.steps);
    sum += std::abs(share / point.published - 1);
  }
  EXPECT_LT(sum / std::size(kPoints), 0.08);
}

}  // namespace
}  // namespace mapsim::sparse_golden_test
