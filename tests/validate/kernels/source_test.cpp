// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/source.hpp"

#include <gmock/gmock.h>

#include "tests/costmodel/gpu/chips.hpp"

namespace mapsim::source_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

KernelSpec spec_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  KernelSpec spec;
  spec.problem.m = m;
  spec.problem.n = n;
  spec.problem.k = k;
  return spec;
}

TEST(KernelSource, HasABlockPerTileSliceAndBatch) {
  KernelSpec spec = spec_of(1000, 300, 4096);
  spec.problem.batch = 3;
  spec.kernel.split_k = 4;
  const KernelSource source = kernel_source(chip("h200"), spec);
  EXPECT_EQ(source.grid, (std::array<std::int64_t, 3>{8 * 3 * 4 * 3, 1, 1}));
  EXPECT_EQ(source.threads, 128);
  EXPECT_EQ(source.shared, Bytes{2 * (128 + 128) * (32 + 8) * 2});
  EXPECT_EQ(source.workspace, Bytes{4 * 3 * 1000 * 300 * 4});
  EXPECT_EQ(source.reduce_grid[0], (3 * 1000 * 300 / 4 + 255) / 256);
  EXPECT_THAT(source.text, HasSubstr("\n" + source.entry + "("));
  EXPECT_THAT(source.text, HasSubstr("\n" + source.reduce_entry + "("));
  EXPECT_EQ(source.text.substr(0, source.text.find('\n')), "// " + to_string(spec.kernel));
  spec.kernel.stages = 3;
  EXPECT_NE(kernel_source(chip("h200"), spec).entry, source.entry);
}

TEST(KernelSource, DependsOnTheProblemAndTheKernelOnly) {
  const KernelSpec spec = spec_of(64, 64, 64);
  EXPECT_EQ(kernel_source(chip("h200"), spec).text, kernel_source(chip("a100_80gb"), spec).text);
  EXPECT_NE(kernel_source(chip("h200"), spec).text,
            kernel_source(chip("h200"), spec_of(64, 64, 65)).text);
}

TEST(KernelBuffers, AreWhatTheKernelReads) {
  KernelSpec spec = spec_of(30, 20, 50);
  spec.problem.batch = 2;
  spec.problem.run_a = 56;
  spec.epilogue.bias = true;
  const KernelBuffers buffers = kernel_buffers(spec);
  EXPECT_EQ(buffers.a, Bytes{2 * 30 * 56 * 2});
  EXPECT_EQ(buffers.b, Bytes{2 * 20 * 50 * 2});
  EXPECT_EQ(buffers.c, Bytes{2 * 30 * 20 * 2});
  EXPECT_EQ(buffers.bias, Bytes{2 * 20 * 4});
  EXPECT_EQ(buffers.workspace, Bytes{0});
  EXPECT_EQ(buffers.arguments.batch_a, 30 * 56);
}

TEST(NotGenerated, SaysWhy) {
  const Gpu gpu = chip("h200");
  KernelSpec spec = spec_of(64, 64, 64);
  EXPECT_EQ(not_generated(gpu, spec), std::nullopt);
  spec.kernel.path = GpuPath::kWgmma;
  EXPECT_THAT(not_generated(gpu, spec), Optional(HasSubstr("warpgroups multiply 64 x")));
  spec.kernel.path = GpuPath::kMma;
  EXPECT_THAT(not_generated(gpu, spec), Optional(HasSubstr("swizzle their tiles: padding 0")));
  spec.kernel.padding = 0;
  EXPECT_EQ(not_generated(gpu, spec), std::nullopt);
  spec.kernel.stages = 1;
  EXPECT_THAT(not_generated(gpu, spec), Optional(HasSubstr("two stages or more")));
  spec = spec_of(64, 64, 64);
  spec.problem.precision = GpuPrecision::kFp8;
  EXPECT_THAT(not_generated(gpu, spec), Optional(HasSubstr("h200 has no WMMA of fp8")));
  spec = spec_of(64, 64, 64);
  spec.problem.output = Bytes{8};
  EXPECT_THAT(not_generated(gpu, spec), Optional(std::string{"no output of 8 B of f16"}));
  spec = spec_of(64, 64, 64);
  spec.problem.run_a = 60;
  EXPECT_THAT(not_generated(gpu, spec),
              Optional(std::string{"rows of 64 and 64 elements lie 60 and 64 apart"}));
  spec = spec_of(64, 64, 64);
  spec.kernel.warp.m = 48;
  EXPECT_EQ(not_generated(gpu, spec), illegal(gpu, spec.problem, spec.kernel));
  spec = spec_of(64, 64, 64);
  spec.conv = KernelConvolution{};
  EXPECT_THAT(not_generated(gpu, spec),
              Optional(HasSubstr("64 x 64 x 64 in 1 batches is not the GEMM")));
}

TEST(NotGenerated, NamesWhatSharedMemoryDoesNotHold) {
  KernelSpec spec = spec_of(64, 64, 64);
  spec.problem.precision = GpuPrecision::kS8;
  spec.problem.output = Bytes{4};
  spec.kernel.block = spec.kernel.warp = {16, 16, 16};
  spec.kernel.stages = 1;
  spec.kernel.padding = 0;
  EXPECT_THAT(not_generated(chip("h200"), spec),
              Optional(std::string{
                  "512 B of shared memory; a fragment of sums on its way out takes 1024"}));
  spec.kernel.stages = 2;
  EXPECT_EQ(not_generated(chip("h200"), spec), std::nullopt);
}

TEST(KernelSource, NaiveKernelsTakeSharedMemoryForTilesWhereTheyNeedSome) {
  KernelSpec spec = spec_of(64, 64, 64);
  spec.naive = true;
  EXPECT_THAT(kernel_source(chip("h200"), spec).text, HasSubstr("kGuarded = false"));
  spec.problem.m = 63;
  EXPECT_EQ(not_generated(chip("h200"), spec), std::nullopt);
  const KernelSource source = kernel_source(chip("h200"), spec);
  EXPECT_THAT(source.text, HasSubstr("kGuarded = true"));
  EXPECT_EQ(source.grid[0], 4 * 4);
  EXPECT_EQ(source.shared, Bytes{16 * (16 * 4 + 32)});  // sums take more than the tiles
}

}  // namespace
}  // namespace mapsim::source_test
