// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's compiler makes of the kernels, instruction by instruction, where it is installed;
// docs/kernels.md has the figures.
#include "validate/kernels/sass.hpp"

#include <gmock/gmock.h>

#include <array>
#include <iostream>

#include "tests/costmodel/gpu/chips.hpp"
#include "validate/kernels/nvrtc.hpp"

namespace mapsim::sass_test {
namespace {

KernelSpec spec_of(GpuPath path, GpuPrecision precision, const GemmTile& block,
                   std::int64_t stages) {
  KernelSpec spec;
  spec.problem = square(4096, precision);
  spec.problem.output = operand_size(precision);
  spec.kernel.path = path;
  spec.kernel.block = block;
  spec.kernel.warp = {64, 64, block.k};
  spec.kernel.fragment = wmma_fragments(precision).front();
  spec.kernel.stages = stages;
  spec.kernel.padding = path == GpuPath::kMma ? 0 : 16 / spec.problem.output.count();
  return spec;
}

// What must hold of each, whatever the version of the compiler. A warp of 64 x 64 takes, per 32 B
// along K, 32 MMA instructions and 8 ldmatrix of 512 B; each is written twice at most: once in the
// loop and once before it.
struct Golden {
  const char* name;
  KernelSpec spec;
  std::int64_t mma, ldsm_least, ldsm_most, ldgsts, stg_128, spilled_most;
};
std::vector<Golden> goldens() {
  const GpuPath mma = GpuPath::kMma, wmma = GpuPath::kWmma;
  using P = GpuPrecision;
  return {
      {"mma f16", spec_of(mma, P::kF16, {128, 128, 32}, 4), 64, 16, 24, 32, 16, 0},
      {"mma f16 deep", spec_of(mma, P::kF16, {128, 128, 64}, 2), 128, 32, 40, 32, 16, 0},
      {"mma bf16", spec_of(mma, P::kBf16, {128, 128, 32}, 4), 64, 16, 24, 32, 16, 0},
      {"mma s8", spec_of(mma, P::kS8, {128, 128, 64}, 4), 64, 16, 24, 32, 8, 0},
      {"mma tf32", spec_of(mma, P::kTf32, {128, 128, 16}, 4), 64, 16, 24, 32, 32, 0},
      {"wmma f16", spec_of(wmma, P::kF16, {128, 128, 32}, 4), 64, 16, 24, 32, 16, 0},
  };
}

TEST(Sass, HasTheInstructionsThatAKernelNeedsAndNoMore) {
  const auto loaded = Nvrtc::load({});
  if (const auto* reason = std::get_if<std::string>(&loaded)) {
    GTEST_SKIP() << *reason << "; docs/kernels.md (Compiling) says where it comes from";
  }
  const Nvrtc& nvrtc = std::get<Nvrtc>(loaded);
  for (const auto& [chip_name, sm] : {std::pair{"a100_80gb", 80}, {"h200", 90}}) {
    const Gpu gpu = chip(chip_name);
    for (const Golden& golden : goldens()) {
      SCOPED_TRACE(std::string{golden.name} + " for " + chip_name);
      const KernelSource source = kernel_source(gpu, golden.spec);
      const auto compiled = nvrtc.compile(source, sm);
      ASSERT_TRUE(std::holds_alternative<CompiledKernel>(compiled))
          << std::get<std::string>(compiled);
      const auto& kernel = std::get<CompiledKernel>(compiled);
      const SassCounts counts = count_instructions(kernel.image, source.entry);
      std::cout << "sm_" << sm << " " << golden.name << ": " << kernel.registers << " registers, "
                << kernel.spilled_bytes << " B spilled, " << counts.all << " instructions, "
                << counts.mma << " MMA, " << counts.ldsm << " LDSM, " << counts.lds << " LDS, "
                << counts.generic << " LD, " << counts.ldgsts << " LDGSTS, " << counts.stg_128
                << " STG.128, " << counts.stg_narrow << " narrower STG, " << counts.local
                << " local\n";
      EXPECT_EQ(counts.mma, golden.mma);
      EXPECT_GE(counts.ldsm, golden.ldsm_least);
      EXPECT_LE(counts.ldsm, golden.ldsm_most);
      EXPECT_EQ(counts.ldgsts, golden.ldgsts);
      EXPECT_EQ(counts.stg_128, golden.stg_128);
      EXPECT_EQ(counts.stg_narrow, 0);
      EXPECT_EQ(counts.generic, 0);
      EXPECT_LE(kernel.spilled_bytes, golden.spilled_most);
    }
  }
}

// Of a warpgroup of 64 x 256, per step along K: an instruction for 32 B, and of one thread a copy
// for each operand's columns of 128 B.
TEST(Sass, OfWarpgroupsHasTheInstructionsThatAKernelNeeds) {
  struct Warpgroup {
    GpuPrecision precision;
    std::int64_t row, cluster;  // bytes along K
    MatrixLayout a, b;
    std::int64_t wgmma, tma;
  };
  const MatrixLayout row = MatrixLayout::kRow, column = MatrixLayout::kColumn;
  using P = GpuPrecision;
  const auto loaded = Nvrtc::load({});
  if (const auto* reason = std::get_if<std::string>(&loaded)) {
    GTEST_SKIP() << *reason << "; docs/kernels.md (Compiling) says where it comes from";
  }
  const Gpu gpu = chip("h100_sxm");
  for (const Warpgroup& golden :
       {Warpgroup{P::kF16, 128, 1, row, column, 4, 2}, Warpgroup{P::kF16, 64, 1, row, column, 2, 2},
        Warpgroup{P::kF16, 128, 1, column, row, 4, 6},
        Warpgroup{P::kBf16, 128, 2, row, column, 4, 2},
        Warpgroup{P::kTf32, 128, 1, row, column, 4, 2},
        Warpgroup{P::kS8, 128, 1, row, column, 4, 2}}) {
    KernelSpec spec;
    spec.problem = square(4096, golden.precision);
    const std::int64_t size = operand_size(golden.precision).count();
    spec.problem.output = operand_size(golden.precision);
    spec.problem.a = golden.a, spec.problem.b = golden.b;
    KernelChoice& kernel = spec.kernel;
    kernel.path = GpuPath::kWgmma;
    kernel.block = {128, 256, golden.row / size};
    kernel.warp = {64, 256, kernel.block.k};
    kernel.fragment = {64, 256, 32 / size};
    kernel.stages = 4;
    kernel.padding = 0;
    kernel.cluster = golden.cluster;
    const KernelSource source = kernel_source(gpu, spec);
    SCOPED_TRACE(source.entry);
    const auto compiled = std::get<Nvrtc>(loaded).compile(source, 90);
    ASSERT_TRUE(std::holds_alternative<CompiledKernel>(compiled))
        << std::get<std::string>(compiled);
    const auto& result = std::get<CompiledKernel>(compiled);
    const SassCounts counts = count_instructions(result.image, source.entry);
    EXPECT_EQ(counts.wgmma, golden.wgmma);
    EXPECT_EQ(counts.tma, golden.tma);
    EXPECT_EQ(counts.stg_128, size * 8);
    EXPECT_EQ(counts.stg_narrow, 0);
    EXPECT_EQ(counts.local, 0);
    EXPECT_EQ(result.spilled_bytes, 0);
    EXPECT_EQ(result.registers, 168);  // of 384 threads, who share them as setmaxnreg says
    EXPECT_EQ(source.shared, resources(gpu, spec.problem, kernel).shared);
  }
}

TEST(Sass, RefusesWhatIsNoCubin) {
  EXPECT_THROW(count_instructions("nothing", "kernel"), std::invalid_argument);
  EXPECT_THROW(count_instructions(std::string{"\x7f"} + "ELF", "kernel"), std::invalid_argument);
}

}  // namespace
}  // namespace mapsim::sass_test
