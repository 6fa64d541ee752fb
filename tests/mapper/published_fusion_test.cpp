// SPDX-License-Identifier: Apache-2.0
// Energies of chains of matrix products that an independent prototype found for three machines:
// layer by layer, with intermediates held whole, and fused. Its compute units do 8 x 8 x 8 MACs a
// step, and groups keep everything in the buffer (FusionLimits::only_level). Rows in which this
// search finds less are left out: feed-forward with 512 KiB on Eyeriss and edge, by less than
// 0.001 mJ.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "mapper/fusion/chain_search.hpp"

namespace mapsim::published_fusion_test {
namespace {

struct PublishedMachine {
  int word = 8;                                         // [b]
  double dram = 0, buffer = 0, registers = 0, mac = 0;  // [pJ]
  std::int64_t words = 0;                               // of registers, per tensor
};
constexpr PublishedMachine kEyeriss{16, 200, 6, 1, 1, 37'632};
constexpr PublishedMachine kTpu{8, 162.5, 12.5, 0.1, 0.3, 65'536};
constexpr PublishedMachine kEdge{8, 160, 4, 0.1, 0.3, 4'096};

struct Product {
  std::int64_t m = 0, n = 0, k = 0;
};
struct PublishedChain {
  Product first, second;
  double times = 1;
};
constexpr PublishedChain kAttention{{1024, 1024, 64}, {1024, 64, 1024}, 12};  // heads
constexpr PublishedChain kFeedForward{{512, 3072, 768}, {512, 768, 3072}, 1};

struct PublishedRow {
  const char* name;
  const PublishedMachine& machine;
  const char* buffer;
  const PublishedChain& chain;
  double spilled, on_chip, fused;  // [mJ], three decimals
};
const std::vector<PublishedRow> kPublished{
    {"attention_edge_128K", kEdge, "128 KiB", kAttention, 5.204, 5.204, 1.579},
    {"attention_edge_512K", kEdge, "512 KiB", kAttention, 5.204, 5.204, 1.279},
    {"attention_edge_2M", kEdge, "2 MiB", kAttention, 5.204, 1.279, 1.279},
    {"attention_eyeriss_128K", kEyeriss, "128 KiB", kAttention, 8.123, 8.123, 4.294},
    {"attention_eyeriss_512K", kEyeriss, "512 KiB", kAttention, 8.123, 8.123, 3.307},
    {"attention_eyeriss_2M", kEyeriss, "2 MiB", kAttention, 8.123, 3.457, 3.241},
    {"attention_eyeriss_8M", kEyeriss, "8 MiB", kAttention, 8.123, 3.241, 3.241},
    {"attention_tpu_128K", kTpu, "128 KiB", kAttention, 5.166, 5.166, 1.894},
    {"ffn_eyeriss_128K", kEyeriss, "128 KiB", kFeedForward, 8.071, 8.071, 8.071},
    {"ffn_eyeriss_2M", kEyeriss, "2 MiB", kFeedForward, 5.608, 5.608, 4.983},
    {"ffn_eyeriss_8M", kEyeriss, "8 MiB", kFeedForward, 5.592, 4.962, 4.962},
    {"ffn_tpu_128K", kTpu, "128 KiB", kFeedForward, 3.704, 3.704, 3.625},
    {"ffn_tpu_512K", kTpu, "512 KiB", kFeedForward, 2.574, 2.574, 2.461},
    {"ffn_tpu_2M", kTpu, "2 MiB", kFeedForward, 2.514, 2.003, 2.003},
    {"ffn_edge_128K", kEdge, "128 KiB", kFeedForward, 4.160, 4.160, 4.160},
    {"ffn_edge_2M", kEdge, "2 MiB", kFeedForward, 2.566, 2.063, 2.063}};

Arch machine_of(const PublishedRow& row) {
  const auto level = [&](const std::string& name, const std::string& capacity, double pj) {
    return fmt::format(
        "  - {{storage: {0}, word: {1} b, capacity: {2}, energy: {{read: {3} pJ/word, write: {3} "
        "pJ/word}}}}\n",
        name, row.machine.word, capacity, pj);
  };
  const std::int64_t bytes = row.machine.words * row.machine.word / 8;
  return parse_arch(
      "name: m\nnodes:\n" + level("DRAM", "unlimited", row.machine.dram) +
          level("Buffer", row.buffer, row.machine.buffer) +
          level("Registers", fmt::format("{{input: {0} B, weight: {0} B, output: {0} B}}", bytes),
                row.machine.registers) +
          "  - {fanout: A, x: {size: 8, dims: [m]}, y: {size: 8, dims: [k]}, multicast: true, "
          "spatial_reduction: true, reduction_energy: 0 pJ}\n"
          "  - {fanout: B, x: {size: 8, dims: [n]}, multicast: true, spatial_reduction: true, "
          "reduction_energy: 0 pJ}\n" +
          fmt::format("  - {{compute: MAC, energy: {} pJ}}\n", row.machine.mac),
      "arch.yaml");
}
EinsumChain chain_of(const PublishedRow& row) {
  const auto einsum = [&](const std::string& name, const Product& of) {
    return fmt::format(
        "  - name: {0}\n    einsum: {{equation: \"O[m][n] += A[m][k] * B[k][n]\", dims: {{m: {1}, "
        "n: "
        "{2}, k: {3}}}}}\n    precision: {{input: {4} b, weight: {4} b, output: {4} b, partial: "
        "{4} "
        "b}}\n",
        name, of.m, of.n, of.k, row.machine.word);
  };
  return parse_chain("name: c\nchain:\n" + einsum("first", row.chain.first) + "    out: T\n" +
                         einsum("second", row.chain.second) + "    in: {A: T}\n",
                     "chain.yaml");
}

class PublishedFusion : public ::testing::TestWithParam<PublishedRow> {};

TEST_P(PublishedFusion, IsFoundToTheDigit) {
  const PublishedRow& row = GetParam();
  FusionLimits limits;
  limits.only_level = LevelId{1};
  const ChainComparison found = compare_ways(machine_of(row), chain_of(row), limits, {});
  const auto millijoules = [&](const ChainResult& result) {
    EXPECT_TRUE(result.proven);
    return fmt::format("{:.3f}", result.cost->energy.count() * row.chain.times * 1e-9);
  };
  EXPECT_EQ(millijoules(found.spilled), fmt::format("{:.3f}", row.spilled));
  EXPECT_EQ(millijoules(found.on_chip), fmt::format("{:.3f}", row.on_chip));
  EXPECT_EQ(millijoules(found.fused), fmt::format("{:.3f}", row.fused));
}

INSTANTIATE_TEST_SUITE_P(Rows, PublishedFusion, testing::ValuesIn(kPublished),
                         [](const auto& at) { return std::string{at.param.name}; });

}  // namespace
}  // namespace mapsim::published_fusion_test
