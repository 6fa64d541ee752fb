// SPDX-License-Identifier: Apache-2.0
#include "workloads/network.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/conv.hpp"
#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::network_test {
namespace {

const std::string kWorkloads = source_path("configs/workloads/");

TEST(LoadNetwork, ReadsLayersBesideItsFile) {
  const Network network = parse_network(
      "name: n\nlayers:\n  - {workload: teaching/conv.yaml, count: 3}\n"
      "  - {name: twin, workload: teaching/conv.yaml}\n",
      kWorkloads + "n.yaml");
  const Workload conv = load_workload(kWorkloads + "teaching/conv.yaml");
  const std::string file = kWorkloads + "teaching/conv.yaml";
  EXPECT_EQ(network, (Network{"n", {{"conv", conv, 3, file}, {"twin", conv, 1, file}}}));
  EXPECT_EQ(network.macs(), 4 * conv.macs());
}

TEST(LoadNetwork, ReadsTheRowOfAWorkbook) {
  const auto row = [](const std::string& text) {
    return parse_network(
               "name: n\nlayers:\n  - {workload: teaching/conv.yaml, workbook: {" + text + "}}\n",
               kWorkloads + "n.yaml")
        .layers.front()
        .workbook;
  };
  const WorkbookRow plain = row("extra_lines: 0");
  EXPECT_EQ(plain, WorkbookRow{});
  const WorkbookRow all =
      row("addition: true, pooled: [7, 5], extra_lines: 3, winograd_weights: false, dram: output, "
          "reads_memory: false, writes_memory: false, dram_weights: 2, memory_weights: 4");
  EXPECT_EQ(all, (WorkbookRow{true, {{7, 5}}, 3, false, Role::kOutput, false, false, 2, 4}));
}

// As if the files had said so: weights are shared, all else grows.
TEST(Batched, IsWhatTheShorthandsMakeOfThatBatch) {
  const Workload conv = conv2d("c", {4, 8, 8, {12, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2});
  const Workload one = conv2d("c", {1, 8, 8, {12, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2});
  const Network network{"n",
                        {{"conv", one, 2, "a"},
                         {"fc", gemm("g", {1, 16, 32, {}}), 1, "b"},
                         {"heads", gemm("h", {8, 16, 32, 3}), 1, "c"}},
                        {{"pool", "MaxPool", Bits{64}, Bits{16}, 2}}};
  const Network four = batched(network, 4, "n.yaml");
  EXPECT_EQ(four.batch, 4);
  EXPECT_EQ(four.layers[0].workload, conv);
  EXPECT_EQ(four.layers[0].count, 2);
  EXPECT_EQ(four.layers[1].workload, gemm("g", {4, 16, 32, {}}));
  EXPECT_EQ(four.layers[2].workload, gemm("h", {8, 16, 32, 12}));
  EXPECT_EQ(four.streams[0].in, Bits{256});
  EXPECT_EQ(four.macs(), 4 * network.macs());
  EXPECT_THROW(batched(network, std::int64_t{1} << 50, "n.yaml"), ConfigError);
  EXPECT_THROW(batched(network, 0, "n.yaml"), ConfigError);
  const Network other{"o",
                      {{"x", einsum("x", "D[i] += E[i][j] * F[j]", {{"i", 2}, {"j", 3}}), 1, "x"}}};
  EXPECT_THROW(batched(other, 2, "n.yaml"), ConfigError);
}

TEST(LoadNetwork, TellsAllThatIsWrong) {
  expect_errors("workloads/bad_networks.txt", 5,
                [](const std::string& text) { return parse_network(text, "n.yaml"); });
}

TEST(LoadNetwork, SurvivesDamagedFiles) {
  expect_survival(
      "name: n\nlayers:\n  - {workload: teaching/conv.yaml, count: 3}\n",
      [](const std::string& text) { return parse_network(text, kWorkloads + "n.yaml"); });
}

}  // namespace
}  // namespace mapsim::network_test
