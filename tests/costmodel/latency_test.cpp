// SPDX-License-Identifier: Apache-2.0
// The ramped latency and the ports of a level, by hand: docs/model.md#latency.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "workloads/load.hpp"

namespace mapsim::latency_test {
namespace {

// A 16 x 16 array with an SRAM per operand, of 64 KiB or 128 KiB so that tiles have 64; ports as a
// bandwidth of DRAM, or of I, F and O.
struct Ports {
  std::string dram, input, weight, output;
};
Latency latency_of(const std::string& gemm, const std::string& nodes, const Ports& ports,
                   bool twice) {
  const auto port = [](const std::string& text) {
    return text.empty() ? text : fmt::format("    bandwidth: {{{}}}\n", text);
  };
  const auto sram = [&](const char* name, const std::string& bandwidth, const char* others) {
    return fmt::format(
        "  - storage: {}\n    capacity: {} KiB\n    double_buffered: {}\n{}    bypass: [{}]\n",
        name, twice ? 128 : 64, twice, port(bandwidth), others);
  };
  const std::string arch =
      "name: a\ntechnology: 45nm\nleakage: false\nnodes:\n  - storage: DRAM\n"
      "    capacity: unlimited\n" +
      port(ports.dram) + sram("I", ports.input, "weight, output") +
      sram("F", ports.weight, "input, output") + sram("O", ports.output, "input, weight") +
      "  - fanout: Array\n    x: 16\n    y: 16\n    spatial_reduction: true\n"
      "  - storage: Register\n    capacity: {weight: 1 B}\n    kind: regfile\n    keep: [weight]\n"
      "  - compute: MAC\n    timing: {model: systolic, array: Array}\n";
  const Problem problem{parse_arch(arch, "a.yaml"),
                        parse_workload("name: g\ngemm: " + gemm + "\n", "g.yaml")};
  const Mapping mapping =
      parse_mapping("mapping:\n  - keep DRAM: [A, B, Z]\n" + nodes +
                        "  - parallel N: 1 over X of Array\n  - parallel K: 1 over Y of Array\n"
                        "  - keep Register: [B]\n  - for M: 1\n",
                    "m.yaml", problem.arch(), problem.workload());
  return std::get<Cost>(evaluate(problem, mapping)).latency;
}

const std::string kOneFold = "  - keep O: [Z]\n  - keep I: [A]\n  - keep F: [B]\n";
const std::string kFolds =
    "  - for N: 16\n  - keep O: [Z]\n  - for K: 16\n  - keep I: [A]\n  - keep F: [B]\n";
const std::string kSquare = "{m: 256, n: 256, k: 256}";

// 16 x 16 folds: 256 steps, 16 to load, 30 to leave. 1 MiB of inputs, 64 KiB of weights and of
// sums.
constexpr std::int64_t kArray = 256 * (256 + 16 + 30);
static_assert(kArray == 77'312);
constexpr std::int64_t kTraffic = 16 * 65'536 + 65'536 + 65'536;

// One fold: 1024 + 256 B in, 64 + 16 + 30 cycles, 1024 B out, a byte a cycle. Nothing can overlap,
// so second buffers change nothing.
TEST(RampedLatency, OfOneFoldIsOneThingAfterTheOther) {
  for (const bool twice : {false, true}) {
    const Latency one =
        latency_of("{m: 64, n: 16, k: 16}", kOneFold, {"shared: 1 B/cycle", "", "", ""}, twice);
    EXPECT_EQ(one.steady, Cycles{1024 + 256 + 1024});
    EXPECT_EQ(one.ramped, Cycles{1024 + 256 + 110 + 1024});
  }
}

// Without second buffers all that passes DRAM shows, once.
TEST(RampedLatency, OfSingleBuffersAddsTheirTransfers) {
  const Latency single = latency_of(kSquare, kFolds, {"shared: 16 B/cycle", "", "", ""}, false);
  EXPECT_EQ(single.steady, Cycles{kArray});
  EXPECT_EQ(single.ramped, Cycles{kArray + kTraffic / 16});
}

// With them only the first tiles of A (4 KiB) and B (256 B) and the last one of Z (4 KiB) do:
// every other tile of Z has the 16 folds of the next column to leave in, every tile of A and B the
// fold before.
TEST(RampedLatency, OfDoubleBuffersShowsTheFirstFillAndTheLastDrain) {
  const Latency twice = latency_of(kSquare, kFolds, {"shared: 16 B/cycle", "", "", ""}, true);
  EXPECT_EQ(twice.steady, Cycles{kArray});
  EXPECT_EQ(twice.ramped, Cycles{kArray + (4096 + 256 + 4096) / 16});
  // DRAM sets the pace: its first and last transfers are some of its own.
  const Latency slow = latency_of(kSquare, kFolds, {"shared: 8 B/cycle", "", "", ""}, true);
  EXPECT_EQ(slow.steady, Cycles{kTraffic / 8});
  EXPECT_EQ(slow.ramped, Cycles{kTraffic / 8});
}

// Private ports work side by side: the busiest shows, not their sum.
TEST(RampedLatency, OfSiblingsIsThatOfTheBusiest) {
  const std::string link = "link: 16 B/cycle";
  const Latency single = latency_of(kSquare, kFolds, {"", link, link, link}, false);
  EXPECT_EQ(single.steady, Cycles{kArray});
  EXPECT_EQ(single.ramped, Cycles{kArray + 16 * 65'536 / 16});
}

// A link has the 64 KiB of finished sums, not the 960 KiB that the array takes back.
TEST(Link, CarriesFillsAndDrainsOnly) {
  const Latency linked = latency_of(kSquare, kFolds, {"", "", "", "link: 8 B/cycle"}, true);
  EXPECT_EQ(linked.resources.back().kind, PortKind::kLink);
  EXPECT_EQ(linked.resources.back().time, Cycles{65'536 / 8});
  EXPECT_EQ(linked.steady, Cycles{kArray});
  const Latency read = latency_of(kSquare, kFolds, {"", "", "", "read: 8 B/cycle"}, true);
  EXPECT_EQ(read.steady, Cycles{16 * 65'536 / 8});
}

}  // namespace
}  // namespace mapsim::latency_test
