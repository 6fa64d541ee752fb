// SPDX-License-Identifier: Apache-2.0
// Generated kernels through NVIDIA's compiler, where it is installed; no GPU is needed.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "costmodel/gpu/shared_memory.hpp"
#include "mapper/gpu/search.hpp"
#include "tests/costmodel/gpu/chips.hpp"
#include "tests/validate/kernels/cases.hpp"
#include "validate/kernels/nvrtc.hpp"

namespace mapsim::compile_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// A folder of its own, gone afterwards.
struct Folder {
  Folder() : path{fs::temp_directory_path() / ("mapsim_nvrtc_" + std::to_string(getpid()))} {}
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

struct Compiled {
  KernelSpec spec;
  KernelSource source;
  std::variant<CompiledKernel, std::string> result;
};

// As many threads as there are processors.
std::vector<Compiled> compile_all(const Nvrtc& nvrtc, const Gpu& gpu,
                                  const std::vector<KernelSpec>& specs) {
  std::vector<Compiled> all(specs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < specs.size(); i = next++) {
      all[i].spec = specs[i];
      all[i].source = kernel_source(gpu, specs[i]);
      all[i].result = nvrtc.compile(all[i].source, static_cast<int>(gpu.compute_capability));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(2u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
  return all;
}

// Every n-th of the legal ones of the set that is searched, for this problem.
void add_from_set(const Gpu& gpu, const GemmProblem& problem, std::size_t count,
                  std::vector<KernelSpec>& specs) {
  std::vector<KernelSpec> legal;
  for (const KernelChoice& kernel : kernel_set(gpu, problem, GpuPath::kWmma)) {
    KernelSpec spec{problem, kernel};
    if (!not_generated(gpu, spec)) {
      legal.push_back(spec);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    specs.push_back(legal.at((2 * i + 1) * legal.size() / (2 * count)));
  }
}

std::vector<KernelSpec> varied(const Gpu& gpu) {
  std::vector<KernelSpec> specs;
  for (const GpuPrecision precision : {GpuPrecision::kF16, GpuPrecision::kBf16, GpuPrecision::kTf32,
                                       GpuPrecision::kS8, GpuPrecision::kF64}) {
    GemmProblem problem = square(1024, precision);
    problem.output = operand_size(precision);
    add_from_set(gpu, problem, precision == GpuPrecision::kF16 ? 8 : 3, specs);
  }
  const auto cases = kernel_cases();
  for (std::size_t i = 0; i < cases.size(); i += 4) {
    if (cases[i].has_async) {
      specs.push_back(cases[i].spec);
    }
  }
  return specs;
}

// The kernel that is to be fast: 128 x 128 and 256 x 128 of f16, in warps of 64 x 64.
std::vector<KernelSpec> large_tiles() {
  std::vector<KernelSpec> specs;
  for (const GemmTile& block : {GemmTile{128, 128, 32}, GemmTile{256, 128, 32}}) {
    for (const MatrixLayout b : {MatrixLayout::kColumn, MatrixLayout::kRow}) {
      KernelSpec spec{square(4096, GpuPrecision::kF16), {}};
      spec.problem.b = b;
      spec.kernel.block = block;
      spec.kernel.stages = 4;
      specs.push_back(spec);
    }
  }
  return specs;
}

class Compiler : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = Nvrtc::load({{}, {}, folder.path});
    if (const auto* reason = std::get_if<std::string>(&loaded)) {
      GTEST_SKIP() << *reason;
    }
    nvrtc = std::get<Nvrtc>(loaded);
  }

  // Compiles, and their resources are what the model says.
  void check(const char* name) {
    const Gpu gpu = chip(name);
    std::vector<KernelSpec> specs = varied(gpu);
    for (const KernelSpec& spec : large_tiles()) {
      specs.push_back(spec);
    }
    EXPECT_GE(specs.size(), 40u);
    double off = 0;  // registers
    std::int64_t most_spilled = 0;
    for (const Compiled& one : compile_all(*nvrtc, gpu, specs)) {
      SCOPED_TRACE(to_string(one.spec.problem.precision) + std::string{" "} +
                   to_string(one.spec.kernel));
      ASSERT_TRUE(std::holds_alternative<CompiledKernel>(one.result))
          << std::get<std::string>(one.result);
      const auto& kernel = std::get<CompiledKernel>(one.result);
      check_resources(gpu, one, kernel);
      const auto estimated = estimated_registers(one.spec.problem, one.spec.kernel);
      off += std::abs(static_cast<double>(kernel.registers - estimated)) /
             static_cast<double>(specs.size());
      // The compiler trades a few for one more resident block. But for f16, WMMA loads fragments
      // word by word (decision 20), with more addresses to hold: tf32 in warps of 64x64, 168 B.
      const bool is_f16 = one.spec.problem.precision == GpuPrecision::kF16;
      EXPECT_LE(kernel.spilled_bytes, is_f16 ? 64 : 168);
      most_spilled = std::max(most_spilled, kernel.spilled_bytes);
    }
    std::cout << name << ": " << specs.size() << " kernels, registers " << off
              << " off the estimate on average, at most " << most_spilled << " B spilled\n";
    EXPECT_LT(off, 30);
  }

  static void check_resources(const Gpu& gpu, const Compiled& one, const CompiledKernel& kernel) {
    const KernelSpec& spec = one.spec;
    EXPECT_EQ(kernel.image.substr(1, 3), "ELF");
    EXPECT_EQ(kernel.static_shared, Bytes{0});  // all of it is dynamic:
    if (!spec.naive) {
      EXPECT_EQ(one.source.shared, resources(gpu, spec.problem, spec.kernel).shared);
    }
    EXPECT_TRUE(kernel.registers > 0 && kernel.registers <= 255) << kernel.log;
    EXPECT_GE(blocks_per_sm(gpu, one.source.threads, kernel.registers, one.source.shared), 1)
        << kernel.registers << " registers";
    const bool is_half = operand_size(spec.problem.precision) == Bytes{2};
    if (is_half && spec.kernel.warp == GemmTile{64, 64, 32}) {  // the fast ones
      EXPECT_EQ(kernel.spilled_bytes, 0);
    }
  }

  Folder folder;
  std::optional<Nvrtc> nvrtc;
};

TEST_F(Compiler, MakesKernelsForSm80) { check("a100_80gb"); }
TEST_F(Compiler, MakesKernelsForSm90) { check("h200"); }

TEST_F(Compiler, MakesKernelsThatCopyThroughRegistersForSm75) {
  const Gpu gpu = chip("t4");
  std::vector<KernelSpec> specs;
  for (const KernelCase& one : kernel_cases()) {
    if (!one.has_async) {
      specs.push_back(one.spec);
    }
  }
  for (const Compiled& one : compile_all(*nvrtc, gpu, specs)) {
    EXPECT_TRUE(std::holds_alternative<CompiledKernel>(one.result))
        << std::get<std::string>(one.result);
  }
}

KernelSource small_kernel() { return kernel_source(case_gpu(true), kernel_cases().front().spec); }

TEST_F(Compiler, FindsACubinAgainByItsContent) {
  const auto first = std::get<CompiledKernel>(nvrtc->compile(small_kernel(), 80));
  EXPECT_FALSE(first.from_cache);
  const auto again = std::get<CompiledKernel>(nvrtc->compile(small_kernel(), 80));
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.image, first.image);
  EXPECT_EQ(again.registers, first.registers);
  EXPECT_EQ(again.log, first.log);
  EXPECT_FALSE(std::get<CompiledKernel>(nvrtc->compile(small_kernel(), 90)).from_cache);
  KernelSource other = small_kernel();
  other.text += "// another\n";
  EXPECT_FALSE(std::get<CompiledKernel>(nvrtc->compile(other, 80)).from_cache);
}

TEST_F(Compiler, CompilesAgainWhatIsDamagedInTheCache) {
  const auto first = std::get<CompiledKernel>(nvrtc->compile(small_kernel(), 80));
  int files = 0;
  for (const auto& entry : fs::directory_iterator{folder.path}) {
    fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
    ++files;
  }
  EXPECT_EQ(files, 1);  // nothing is left over from writing
  const auto again = std::get<CompiledKernel>(nvrtc->compile(small_kernel(), 80));
  EXPECT_FALSE(again.from_cache);
  EXPECT_EQ(again.image, first.image);
}

TEST_F(Compiler, SaysWhatIsWrongWithAKernel) {
  KernelSource source = small_kernel();
  source.text += "int broken = nothing;\n";
  EXPECT_THAT(std::get<std::string>(nvrtc->compile(source, 80)),
              HasSubstr("identifier \"nothing\" is undefined"));
}

TEST_F(Compiler, SaysWhereItLookedForTheHeaders) {
  EXPECT_EQ(std::get<std::string>(Nvrtc::load({{}, "/nowhere", {}})),
            "NVRTC is there, but not CUDA's header mma.h: looked in /nowhere; set CUDA_HOME");
}

TEST(Nvrtc, SaysWhereItLookedForTheLibrary) {
  EXPECT_EQ(std::get<std::string>(Nvrtc::load({"/nowhere/libnvrtc.so", {}, {}})),
            "no NVRTC, CUDA's run-time compiler: looked for /nowhere/libnvrtc.so");
}

}  // namespace
}  // namespace mapsim::compile_test
