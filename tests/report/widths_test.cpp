// SPDX-License-Identifier: Apache-2.0
#include "report/widths.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "arch/load.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::widths_test {
namespace {

Workload with(const std::string& precision) {
  return parse_workload("name: w\ngemm: {m: 2, n: 2, k: 2}\nprecision: {" + precision + "}\n", "w");
}
std::string text(const std::string& precision) { return widths_text(widths_of(with(precision))); }

TEST(Widths, SayWhatDiffers) {
  EXPECT_EQ(text("input: 8 b, weight: 8 b, output: 8 b, partial: 32 b"),
            "operands 8 b, outputs 8 b, sums 32 b");
  EXPECT_EQ(text("input: 16 b, weight: 16 b, output: 32 b"),
            "operands 16 b, outputs 32 b, sums 32 b");
  EXPECT_EQ(text("input: 8 b, weight: 4 b, output: 32 b"), "A 8 b, B 4 b, outputs 32 b, sums 32 b");
}

TEST(Widths, OfAKernelAreThoseOfItsPrecision) {
  GemmProblem problem;
  problem.precision = GpuPrecision::kF16;
  problem.output = Bytes{2};
  EXPECT_EQ(widths_text(widths_of(problem)), "operands 16 b, outputs 16 b, sums 32 b");
}

TEST(Widths, OfSeveralLayersAreCounted) {
  EXPECT_EQ(counted_widths({"a", "a"}), "a");
  EXPECT_EQ(counted_widths({"a", "b", "b"}), "b (2 layers); a (1 layer)");
}

TEST(Widths, StandInTheHeadOfEveryResult) {
  const Arch arch = load_arch(source_path("configs/arch/teaching.yaml"));
  const Workload workload = with("input: 8 b, weight: 4 b, output: 32 b");
  EXPECT_EQ(title_text(arch, workload),
            "w on teaching\n"
            "  Z[M][N] += A[M][K] * B[K][N]\n"
            "  8 MACs; M 2; N 2; K 2\n"
            "  A 8 b, B 4 b, outputs 32 b, sums 32 b\n");
  const auto json = nlohmann::json::parse(
      roofline_json({"roofline", {}}, arch, workload, roofline(arch, workload)));
  EXPECT_EQ(json["operand_bits"], (nlohmann::json{{"A", 8}, {"B", 4}}));
  EXPECT_EQ(json["sum_bits"], 32);
  EXPECT_EQ(json["output_bits"], 32);
}

}  // namespace
}  // namespace mapsim::widths_test
