// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "costmodel/gpu/estimate.hpp"
#include "costmodel/gpu/shared_memory.hpp"
#include "tests/costmodel/gpu/chips.hpp"
#include "tests/support/golden_table.hpp"

namespace mapsim::kernel_test {
namespace {

std::int64_t whole(const Row& row, const std::string& column) { return std::stoll(row.at(column)); }

// A chip of each compute capability: their limits are those of the capability.
const std::map<std::string, std::string> kChips{
    {"sm_70", "v100"},        {"sm_75", "t4"}, {"sm_80", "a100_80gb"}, {"sm_86", "a10"},
    {"sm_87", "jetson_orin"}, {"sm_89", "l4"}, {"sm_90", "h200"}};

TEST(Occupancy, EqualsNvidiasHeaderInEveryCase) {
  if (goldens().empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS is not set: the cases of cuda_occupancy.h are skipped";
  }
  const auto rows = read_table(goldens() + "/gpu/nvrtc_resources/occupancy_golden.csv");
  ASSERT_FALSE(rows.empty());
  for (const Row& row : rows) {
    EXPECT_EQ(blocks_per_sm(chip(kChips.at(row.at("arch"))), whole(row, "threads"),
                            whole(row, "regs"), Bytes{whole(row, "dyn_smem")}),
              whole(row, "blocks_per_sm"))
        << row.at("arch") << " threads " << row.at("threads") << " registers " << row.at("regs")
        << " shared " << row.at("dyn_smem");
  }
}

TEST(Occupancy, NamesWhatLimitsIt) {
  const Gpu gpu = chip("a100_80gb");
  OccupancyLimit limit{};
  EXPECT_EQ(blocks_per_sm(gpu, 128, 242, Bytes{40960}, &limit), 2);
  EXPECT_EQ(limit, OccupancyLimit::kRegisters);
  EXPECT_EQ(blocks_per_sm(gpu, 128, 120, Bytes{63000}, &limit), 2);
  EXPECT_EQ(limit, OccupancyLimit::kShared);
  EXPECT_EQ(blocks_per_sm(gpu, 1024, 32, Bytes{0}, &limit), 2);
  EXPECT_EQ(limit, OccupancyLimit::kRegisters);
  EXPECT_EQ(blocks_per_sm(gpu, 32, 16, Bytes{0}, &limit), 32);
  EXPECT_EQ(limit, OccupancyLimit::kBlocks);
  EXPECT_EQ(blocks_per_sm(gpu, 256, 16, Bytes{0}, &limit), 8);
  EXPECT_EQ(limit, OccupancyLimit::kWarps);
}

// Wavefronts of 8 rows of 16 B, `row_bytes` apart: as many as the bank that has most of the words.
std::int64_t walk_banks(std::int64_t row_bytes) {
  std::array<std::int64_t, 32> words{};
  for (std::int64_t row = 0; row < 8; ++row) {
    for (std::int64_t word = 0; word < 4; ++word) {
      ++words[static_cast<std::size_t>((row * row_bytes / 4 + word) % 32)];
    }
  }
  return *std::max_element(words.begin(), words.end());
}

TEST(BankConflicts, EqualAWalkOverTheBanks) {
  for (std::int64_t row_bytes = 16; row_bytes <= 4096; row_bytes += 16) {
    EXPECT_EQ(bank_conflict(row_bytes), walk_banks(row_bytes)) << row_bytes;
  }
  EXPECT_EQ(bank_conflict(32 * 2), 4);        // f16, 32 along K, no padding
  EXPECT_EQ(bank_conflict((32 + 8) * 2), 1);  // ... and 16 B of padding
  EXPECT_EQ(bank_conflict((32 + 16) * 2), 2);
  EXPECT_EQ(bank_conflict(64 * 2), 8);
  EXPECT_EQ(bank_conflict(64 + 16), 1);
}

// A load of 4 B per lane, as fragments of 16 bits are read without ldmatrix: lane l has row l / 4.
TEST(BankConflicts, OfPlainFragmentLoadsAreThoseOfLdmatrix) {
  for (std::int64_t row_bytes = 16; row_bytes <= 1024; row_bytes += 16) {
    std::map<std::int64_t, std::set<std::int64_t>> words;  // bank -> words; one word is broadcast
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      const std::int64_t word = (lane / 4) * row_bytes / 4 + lane % 4;
      words[word % 32].insert(word);
    }
    std::size_t most = 0;
    for (const auto& [bank, of_bank] : words) {
      most = std::max(most, of_bank.size());
    }
    EXPECT_EQ(static_cast<std::size_t>(bank_conflict(row_bytes)), most);
  }
}

// microbench_facts.csv: 128x128x32 blocks, 32x32 warp tiles, A [128][32] and B [32][128] without
// padding, 8192^3 on an H100 SXM; ncu counts 3.4226e9 wavefronts.
TEST(SharedMemory, HasTheWavefrontsOfThePublishedKernel) {
  GemmProblem problem = square(8192, GpuPrecision::kF16);
  problem.b = MatrixLayout::kRow;
  KernelChoice kernel;
  kernel.warp = {32, 32, 32};
  kernel.stages = 3;
  kernel.padding = 0;
  const Gpu gpu = chip("h100_sxm");
  ASSERT_EQ(illegal(gpu, problem, kernel), std::nullopt);
  EXPECT_NEAR(work(gpu, problem, kernel).wavefronts / 3.4226e9, 1, 0.001);
}

GpuPrecision precision_of(const std::string& name) {
  const std::map<std::string, GpuPrecision> names{{"f16", GpuPrecision::kF16},
                                                  {"f16h", GpuPrecision::kF16Acc16},
                                                  {"f16acc16", GpuPrecision::kF16Acc16},
                                                  {"bf16", GpuPrecision::kBf16},
                                                  {"tf32", GpuPrecision::kTf32},
                                                  {"s8", GpuPrecision::kS8},
                                                  {"f64", GpuPrecision::kF64}};
  return names.at(name);
}

GemmTile tile_of(const std::string& text) {
  GemmTile tile;
  EXPECT_EQ(std::sscanf(text.c_str(), "%ldx%ldx%ld", &tile.m, &tile.n, &tile.k), 3) << text;
  return tile;
}

KernelChoice kernel_of(const Row& row) {
  KernelChoice kernel;
  kernel.block = {whole(row, "BM"), whole(row, "BN"), whole(row, "BK")};
  kernel.warp = {whole(row, "WM"), whole(row, "WN"), whole(row, "BK")};
  kernel.fragment = tile_of(row.at("frag"));
  kernel.stages = whole(row, "stages");
  return kernel;
}

TEST(Instructions, OfAKStepAreThoseInTheCubins) {
  if (goldens().empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS is not set: opcode counts are skipped";
  }
  for (const Row& row : read_table(goldens() + "/gpu/nvrtc_resources/sass_opcode_counts.csv")) {
    const GemmProblem problem = square(4096, precision_of(row.at("dtype")));
    const KernelChoice kernel = kernel_of(row);
    const Gpu gpu = chip(kChips.at(row.at("arch")));
    const auto steps = static_cast<double>(kernel.block.k / kernel.fragment.k);
    const auto per_warp = static_cast<double>((kernel.warp.m / kernel.fragment.m) *
                                              (kernel.warp.n / kernel.fragment.n));
    const std::string what = row.at("arch") + " " + row.at("dtype") + " " + row.at("frag");
    EXPECT_EQ(steps * per_warp * mma_instructions(gpu, problem, kernel), whole(row, "mma_count"))
        << what;
    EXPECT_EQ(steps * fragment_loads(gpu, problem, kernel).instructions,
              whole(row, "LDSM") + whole(row, "LD_generic"))
        << what;
  }
}

// nvcc 13.0 for sm_80, WMMA kernels of 128x128x64, warps of 64x64: beside LDSM, a K step of 16 has
// 32 LDS.U8 for each operand that lies across K, whatever its fragments.
TEST(Instructions, LoadBytesThatLieAcrossKOneByOne) {
  const Gpu gpu = chip("a100_80gb");
  GemmProblem problem = square(4096, GpuPrecision::kS8);
  KernelChoice kernel;
  kernel.path = GpuPath::kWmma;
  kernel.block = {128, 128, 64};
  kernel.warp = {64, 64, 64};
  kernel.padding = 16;
  for (const GemmTile fragment : {GemmTile{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}) {
    kernel.fragment = fragment;
    const auto with = [&](MatrixLayout a, MatrixLayout b) {
      problem.a = a;
      problem.b = b;
      return fragment_loads(gpu, problem, kernel);
    };
    const FragmentLoads none = with(MatrixLayout::kRow, MatrixLayout::kColumn);
    const FragmentLoads both = with(MatrixLayout::kColumn, MatrixLayout::kRow);
    EXPECT_EQ(both.instructions, 64);
    EXPECT_GE(both.wavefronts, both.instructions);
    const double of_a = 64. / static_cast<double>(fragment.m);                           // LDSM
    EXPECT_GT(fragment_loads(chip("jetson_xavier"), problem, kernel).instructions, 60);  // sm_72
    EXPECT_EQ(with(MatrixLayout::kRow, MatrixLayout::kRow).instructions, of_a + 32);
    EXPECT_EQ(with(MatrixLayout::kColumn, MatrixLayout::kColumn).instructions,
              none.instructions - of_a + 32);
  }
}

// NVRTC's register counts of 28 kernels on three chips. The estimate is for searching where no
// compiler is at hand; docs/gpu.md says how good it is.
TEST(Registers, AreEstimatedNearWhatTheCompilerTakes) {
  if (goldens().empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS is not set: NVRTC's registers are skipped";
  }
  double error = 0;
  int kernels = 0;
  int spills_seen = 0;
  for (const Row& row : read_table(goldens() + "/gpu/nvrtc_resources/wmma_gemm_regs_spills.csv")) {
    if (row.at("regs").empty()) {
      continue;  // the compiler refused it
    }
    const GemmProblem problem = square(4096, precision_of(row.at("dtype")));
    KernelChoice kernel = kernel_of(row);
    kernel.padding = whole(row, "pad");
    GemmProblem stored = problem;
    stored.b = row.at("layout") == "NN" ? MatrixLayout::kRow : MatrixLayout::kColumn;
    EXPECT_EQ(shared_tile_bytes(stored, kernel).count() * kernel.stages, whole(row, "smem"));
    EXPECT_EQ(kernel.threads(), whole(row, "threads"));
    const std::int64_t estimate = estimated_registers(problem, kernel);
    if (whole(row, "spill_st") > 100) {
      EXPECT_GT(estimate, 255) << to_string(kernel);
      ++spills_seen;
      continue;
    }
    EXPECT_LE(estimate, 255) << to_string(kernel) << " takes " << row.at("regs");
    error += std::abs(std::log(static_cast<double>(estimate) / std::stod(row.at("regs"))));
    ++kernels;
  }
  EXPECT_GT(kernels, 60);
  EXPECT_GT(spills_seen, 0);
  EXPECT_LT(error / kernels, 0.095);
  RecordProperty("mean_relative_error", std::to_string(error / kernels));
}

// 512 threads share 65,536 registers: 128 each, whatever they would like to have.
TEST(Registers, AreWhatTheBlockCanHave) {
  const Gpu gpu = chip("rtx4090");
  GemmProblem problem = square(4096, GpuPrecision::kF16Acc16);
  problem.b = MatrixLayout::kRow;
  KernelChoice kernel;  // LeetCUDA's wmma4x4+warp4x4, which ran on an RTX 4090
  kernel.block = {256, 256, 16};
  kernel.warp = {64, 64, 16};
  kernel.stages = 3;
  ASSERT_EQ(kernel.threads(), 512);
  EXPECT_EQ(estimated_registers(problem, kernel), 168);
  EXPECT_EQ(most_registers(gpu, kernel), 128);
  EXPECT_EQ(illegal(gpu, problem, kernel), std::nullopt);
  EXPECT_EQ(resources(gpu, problem, kernel).registers, 128);
  EXPECT_EQ(resources(gpu, problem, kernel).blocks_per_sm, 1);
  EXPECT_EQ(as_it_ran(gpu, problem, kernel), kernel);  // nothing is spilled
  // With sums of fp32 these alone take 128.
  problem.precision = GpuPrecision::kF16;
  EXPECT_EQ(illegal(gpu, problem, kernel), "512 threads of 232 registers exceed an SM");
  const KernelChoice ran = as_it_ran(gpu, problem, kernel);
  EXPECT_EQ(ran.registers, 128);
  EXPECT_EQ(ran.spilled_bytes, 8 * (232 - 128));
  EXPECT_EQ(illegal(gpu, problem, ran), std::nullopt);
  // Four warps may have all that an instruction can name.
  kernel.block = {128, 128, 16};
  EXPECT_EQ(most_registers(gpu, kernel), 255);
  EXPECT_EQ(resources(gpu, problem, kernel).registers, 232);
}

TEST(Legality, SaysWhatIsWrongAndWhatWouldBeRight) {
  const Gpu t4 = chip("t4");
  const Gpu h200 = chip("h200");
  const GemmProblem problem = square(4096, GpuPrecision::kF16);
  const auto reason = [&](const Gpu& gpu, auto change) {
    KernelChoice kernel;
    change(kernel);
    return illegal(gpu, problem, kernel).value_or("legal");
  };
  EXPECT_EQ(reason(h200, [](KernelChoice&) {}), "legal");
  EXPECT_EQ(reason(t4, [](KernelChoice& k) { k.stages = 3; }),
            "more than 2 stages need cp.async, which begins with sm_80");
  EXPECT_EQ(reason(h200, [](KernelChoice& k) { k.fragment = {16, 8, 16}; }),
            "no fragment 16x8x16 in f16; there is 16x16x16, 32x8x16, 8x32x16");
  EXPECT_EQ(
      reason(h200, [](KernelChoice& k) { k.padding = 4; }),
      "rows of 72 and 72 B in shared memory; load_matrix_sync wants multiples of 16 B: change "
      "the padding");
  EXPECT_EQ(reason(h200, [](KernelChoice& k) { k.stages = 16; }),
            "327680 B of shared memory; h200 gives a block 232448");
  EXPECT_EQ(reason(h200,
                   [](KernelChoice& k) {
                     k.block = {256, 256, 32};
                     k.warp = {64, 128, 32};
                   }),
            "about 392 registers per thread; at most 255: smaller warp tiles");
  EXPECT_EQ(illegal(h200, square(200'000, GpuPrecision::kF16), {}),
            "A, B and C take 240 GB; h200 has 141 GB of memory");
  GemmProblem odd = problem;
  odd.k = 4095;
  KernelChoice wide;
  wide.path = GpuPath::kWgmma;
  wide.fragment = {64, 64, 16};
  EXPECT_EQ(illegal(h200, problem, wide), std::nullopt);
  EXPECT_EQ(illegal(h200, odd, wide),
            "runs of 4095 and 4095 elements in memory; the TMA takes multiples of 16 B: pad them, "
            "or use the path mma");
  odd.run_a = odd.run_b = 4096;
  EXPECT_EQ(illegal(h200, odd, wide), std::nullopt);
  EXPECT_EQ(reason(t4, [](KernelChoice& k) { k.path = GpuPath::kWgmma; }),
            "t4 has no f16 on the path wgmma");
  EXPECT_EQ(reason(h200, [](KernelChoice& k) { k.warp = {48, 64, 32}; }),
            "fragment 16x16x16, warp 48x64x32, block 128x128x32: each must divide the next");
  EXPECT_EQ(reason(h200, [](KernelChoice& k) { k.split_k = 1000; }),
            "1000 slices of K, but only 128 steps");
  for (const GpuPath path : {GpuPath::kMma, GpuPath::kWmma}) {
    EXPECT_THAT(reason(h200,
                       [path](KernelChoice& k) {
                         k.path = path;
                         k.padding = 1;
                       }),
                testing::HasSubstr("multiples of 16 B"));
  }
  // 64 x 64 sums of fp32 of a warp are 128 registers a thread.
  EXPECT_THAT(reason(h200, [](KernelChoice& k) { k.registers = 8; }),
              testing::HasSubstr("sums alone take 128"));
  EXPECT_EQ(reason(h200,
                   [](KernelChoice& k) {
                     k.registers = 100;
                     k.spilled_bytes = 160;
                   }),
            "legal");
}

}  // namespace
}  // namespace mapsim::kernel_test
