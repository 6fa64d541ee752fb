// SPDX-License-Identifier: Apache-2.0
// Measuring on a driver that is made up (fake_cuda.cpp).
#include "validate/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "arch/gpu_load.hpp"
#include "mapper/gpu/search.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"
#include "validate/device/flush.hpp"
#include "validate/device/microbenchmarks.hpp"

namespace mapsim::measure_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A launch, but not of what sums a split K.
bool is_kernel(const std::string& line) {
  return line.starts_with("launch mapsim_") && !line.starts_with("launch mapsim_reduce");
}

class Measuring : public InFolder {
 protected:
  Measuring() {
    std::ofstream{folder() / "mma.h"} << "\n";
    setenv("FAKE_CUDA_LOG", (folder() / "log").c_str(), 1);
    unsetenv("FAKE_CUDA");
    problem_.problem = {96, 80, 256, 1, GpuPrecision::kF16, Bytes{2}};
  }
  ~Measuring() override {
    unsetenv("FAKE_CUDA");
    unsetenv("FAKE_CUDA_LOG");
  }

  std::vector<BuiltKernel> build(std::size_t top, std::size_t sample) {
    CandidateOptions options;
    options.top = top;
    options.sample = sample;
    options.fixed = false;
    Nvrtc::Options where;
    where.library = kFakeCuda;
    where.include = folder();
    const auto nvrtc = Nvrtc::load(where);
    const Compile compile = [&](const KernelSource& source) {
      return std::get<Nvrtc>(nvrtc).compile(source, 90);
    };
    flush_ = std::get<CompiledKernel>(compile(flush_source())).image;
    std::vector<KernelChoice> all = kernel_set(gpu_, problem_.problem, GpuPath::kWmma);
    std::erase_if(all, [](const KernelChoice& k) { return k.block.m * k.block.n > 2048; });
    std::vector<BuiltKernel> built =
        build_kernels(gpu_, choose_candidates(gpu_, problem_, all, options), compile, 2);
    for (BuiltKernel& kernel : built) {
      kernel.label = to_string(kernel.spec.kernel);
    }
    return built;
  }

  ProblemMeasurement run(const std::vector<BuiltKernel>& kernels, bool cold = false) const {
    const CudaDevice device{kFakeCuda};
    std::string why;
    const auto nvml = Nvml::open(device.info().bus, kFakeCuda, why);
    const auto cublas = Cublas::open(kFakeCuda, why);
    MeasureOptions options;
    options.protocol.rounds = 3;
    options.protocol.total = Seconds{1e-3};
    options.protocol.warm_up = Seconds{1e-4};
    options.protocol.cold = cold;
    options.protocol.device_warm_up = Seconds{0};
    options.flush = flush_;
    return measure({&device, &*nvml, &*cublas}, problem_, kernels, options);
  }

  std::vector<std::string> log() const {
    std::ifstream file{folder() / "log"};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  Gpu gpu_ = load_gpu(source_path("configs/arch/h200.yaml"));
  KernelSpec problem_;

 private:
  std::string flush_;
};

TEST_F(Measuring, TimesEveryKernelAndTheLibrary) {
  const std::vector<BuiltKernel> kernels = build(4, 3);
  ASSERT_EQ(kernels.size(), 7U);
  const ProblemMeasurement measured = run(kernels);
  for (const MeasuredKernel& kernel : measured.kernels) {
    EXPECT_EQ(kernel.refusal, "");
    ASSERT_TRUE(kernel.timing);
    EXPECT_GT(kernel.timing->median, Seconds{4e-6});
    EXPECT_LT(kernel.timing->median, Seconds{1e-5});
    EXPECT_LE(kernel.timing->first_quartile, kernel.timing->median);
    EXPECT_LE(kernel.timing->median, kernel.timing->third_quartile);
    EXPECT_EQ(kernel.timing->clock, Hertz{1830e6});
    EXPECT_EQ(kernel.timing->memory_clock, Hertz{3201e6});
    EXPECT_EQ(kernel.timing->watts, 500);
  }
  ASSERT_TRUE(measured.library.timing);
  EXPECT_NEAR(measured.library.timing->median.count(), 3e-6, 1e-7);
}

// The made-up heuristics' second choice is the fastest, their third cannot run.
TEST_F(Measuring, HoldsTheLibrarysBestKernelAgainstOurs) {
  problem_.problem.a = MatrixLayout::kColumn;
  problem_.problem.b = MatrixLayout::kRow;
  const MeasuredKernel alone = run({}).library;
  EXPECT_EQ(alone.refusal, "");
  EXPECT_EQ(alone.detail, "cuBLASLt 2 of 3");
  EXPECT_NEAR(alone.timing->median.count(), 3e-6, 0.1e-6);
}

// Kernels of 50 us and more have samples of their own, shorter ones come in batches: neither has
// the host's 2.5 us (cuBLAS: 2.8 us) of a launch in its time.
TEST_F(Measuring, LeavesTheHostsTimeOut) {
  const std::vector<BuiltKernel> kernels = build(1, 0);
  const auto library = [&](int slow) {
    setenv("FAKE_CUDA", ("slow=" + std::to_string(slow)).c_str(), 1);
    return run(kernels).library.timing->median.count();
  };
  EXPECT_NEAR(library(5), 15e-6, 15e-6 * 0.006);  // noise of a quarter of a per cent
  EXPECT_NEAR(library(20), 60e-6, 60e-6 * 0.006);
}

// Of 0.8 us (cuBLAS: 0.6 us) the device waits for the host, and that is said; of 4 us it does not.
TEST_F(Measuring, SaysWhereTimesAreTheHosts) {
  const std::vector<BuiltKernel> kernels = build(2, 0);
  for (const bool is_fast : {true, false}) {
    setenv("FAKE_CUDA", is_fast ? "slow=0.2" : "slow=1", 1);
    const ProblemMeasurement measured = run(kernels);
    EXPECT_EQ(measured.library.timing->host_bound, is_fast);
    for (const MeasuredKernel& kernel : measured.kernels) {
      EXPECT_EQ(kernel.timing->host_bound, is_fast);
    }
  }
  setenv("FAKE_CUDA", "slow=0.2", 1);
  EXPECT_FALSE(run(kernels, true).library.timing->host_bound);  // the flush hides the host
}

TEST_F(Measuring, FindsSumsThatAreTooNarrow) {
  const std::vector<BuiltKernel> kernels = build(6, 6);
  const std::int64_t bad = kernels.back().spec.kernel.stages;
  setenv("FAKE_CUDA", ("coarse=kStages = " + std::to_string(bad)).c_str(), 1);
  const ProblemMeasurement measured = run(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool is_bad = kernels[i].spec.kernel.stages == bad;
    EXPECT_EQ(measured.kernels[i].timing.has_value(), !is_bad);
    EXPECT_THAT(measured.kernels[i].refusal,
                is_bad ? HasSubstr("of random numbers is ") : HasSubstr(""));
  }
}

TEST_F(Measuring, FindsKernelsThatComputeSomethingElse) {
  const std::vector<BuiltKernel> kernels = build(6, 6);
  const std::int64_t bad = kernels.back().spec.kernel.stages;
  setenv("FAKE_CUDA", ("wrong=kStages = " + std::to_string(bad)).c_str(), 1);
  const ProblemMeasurement measured = run(kernels);
  int wrong = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool is_bad = kernels[i].spec.kernel.stages == bad;
    wrong += is_bad ? 1 : 0;
    EXPECT_EQ(measured.kernels[i].timing.has_value(), !is_bad);
    EXPECT_THAT(measured.kernels[i].refusal,
                is_bad ? StartsWith("wrong: C[0][48][40] is ") : StartsWith(""));
  }
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, 12);
}

TEST_F(Measuring, BlamesTheKernelThatTakesTheContextWithIt) {
  const std::vector<BuiltKernel> kernels = build(4, 0);
  setenv("FAKE_CUDA", "lost=extern", 1);  // every one; the first is met first
  const ProblemMeasurement measured = run(kernels);
  EXPECT_TRUE(measured.kernels[0].lost);
  EXPECT_EQ(measured.kernels[0].refusal,
            "waiting for the GPU: CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure");
  for (std::size_t i = 1; i < kernels.size(); ++i) {
    EXPECT_FALSE(measured.kernels[i].timing);
    EXPECT_EQ(measured.kernels[i].refusal, "");  // never tried
  }
}

TEST_F(Measuring, GoesOnWhereAKernelCannotBeLoaded) {
  const std::vector<BuiltKernel> kernels = build(3, 6);
  setenv("FAKE_CUDA", "image=kStages = 2;", 1);
  const ProblemMeasurement measured = run(kernels);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool is_bad = kernels[i].spec.kernel.stages == 2;
    EXPECT_EQ(measured.kernels[i].timing.has_value(), !is_bad);
    EXPECT_THAT(measured.kernels[i].refusal,
                is_bad ? HasSubstr("CUDA_ERROR_INVALID_IMAGE") : HasSubstr(""));
  }
}

// Fill (poison), launch: the check. Then every sample between two records; cold: twice the L2 is
// read before the first record, and there is one launch only.
TEST_F(Measuring, FlushesTheCacheOutsideOfTheTimedSpan) {
  const std::vector<BuiltKernel> kernels = build(2, 0);
  run(kernels, true);
  const std::string flush = "flush " + std::to_string(2 * (60 << 20));
  int samples = 0;
  int records = 0;
  int launches = 0;
  std::string before_start;
  std::string last;
  for (const std::string& line : log()) {
    if (line == "record") {
      if (++records % 2 == 1) {
        before_start = last;
        launches = 0;
      } else {
        EXPECT_EQ(before_start, flush);
        EXPECT_EQ(launches, 1);
        ++samples;
      }
    } else if (is_kernel(line) || line == "cublas") {
      ++launches;
    } else if (records % 2 == 1) {
      EXPECT_THAT(line, HasSubstr("reduce"));  // nothing else in a timed span
    }
    last = line;
  }
  EXPECT_GT(samples, 3 * 3);
}

TEST_F(Measuring, OpensAndClosesEveryRoundWithTheAnchor) {
  const std::vector<BuiltKernel> kernels = build(3, 0);
  std::vector<std::string> rounds;
  {
    const CudaDevice device{kFakeCuda};
    MeasureOptions options;
    options.library = false;
    options.protocol.rounds = 2;
    options.protocol.total = Seconds{1e-5};
    options.protocol.warm_up = Seconds{1e-7};
    options.protocol.device_warm_up = Seconds{0};
    options.progress = [&](const std::string& what) {
      if (what.starts_with("round")) {
        rounds.push_back(what);
        std::ofstream{getenv("FAKE_CUDA_LOG"), std::ios::app} << what << "\n";
      }
    };
    measure({&device, nullptr, nullptr}, problem_, kernels, options);
  }
  EXPECT_EQ(rounds, (std::vector<std::string>{"round 1 of 2", "round 2 of 2"}));
  std::vector<std::vector<std::string>> launches;
  for (const std::string& line : log()) {
    if (line.starts_with("round")) {
      launches.emplace_back();
    } else if (!launches.empty() && is_kernel(line)) {
      launches.back().push_back(line);
    }
  }
  ASSERT_EQ(launches.size(), 2U);
  for (const std::vector<std::string>& round : launches) {
    EXPECT_EQ(round.front(), round.back());
    EXPECT_EQ(round.front(), launches[0].front());
  }
}

TEST_F(Measuring, FindsTheOnlyDeviceWhateverItsBusId) {
  std::string why;
  EXPECT_TRUE(Nvml::open("0000:99:00.0", kFakeCuda, why));
  setenv("FAKE_CUDA", "gpus", 1);
  EXPECT_FALSE(Nvml::open("0000:99:00.0", kFakeCuda, why));
  EXPECT_EQ(why, "NVML and the GPU at 0000:99:00.0: fake error");
  EXPECT_TRUE(Nvml::open("0000:01:00.0", kFakeCuda, why));
}

TEST_F(Measuring, RecordsThrottlingAndLeavesItsRoundsOut) {
  const std::vector<BuiltKernel> kernels = build(2, 4);
  setenv("FAKE_CUDA", "throttle", 1);
  const ProblemMeasurement measured = run(kernels);
  std::int64_t disturbed = 0;
  for (const MeasuredKernel& kernel : measured.kernels) {
    ASSERT_TRUE(kernel.timing);
    disturbed += kernel.timing->left_out + kernel.timing->normalised;
  }
  EXPECT_GT(disturbed, 0);
}

TEST_F(Measuring, UsesAKernelThatItCannotKeep) {
  Nvrtc::Options where;
  where.library = kFakeCuda;
  where.include = folder();
  where.cache = "/dev/null/cubins";
  const auto nvrtc = Nvrtc::load(where);
  const Compile compile = [&](const KernelSource& source) {
    return std::get<Nvrtc>(nvrtc).compile(source, 90);
  };
  problem_.kernel = fixed_tiles(gpu_, problem_.problem).front();
  const std::vector<BuiltKernel> built = build_kernels(gpu_, std::vector{problem_}, compile, 1);
  EXPECT_EQ(built[0].refusal, "");
  EXPECT_THAT(built[0].note, HasSubstr("/dev/null/cubins"));
  EXPECT_TRUE(run(built).kernels[0].timing);
}

TEST(Microbenchmarks, CompileWhereThereIsACompiler) {
  const auto nvrtc = Nvrtc::load({});
  if (const auto* reason = std::get_if<std::string>(&nvrtc)) {
    GTEST_SKIP() << *reason;
  }
  const Gpu gpu = load_gpu(source_path("configs/arch/h200.yaml"));
  std::vector<KernelSource> sources = microbenchmark_sources(gpu);
  ASSERT_EQ(sources.size(), 11U);
  ASSERT_EQ(flush_source().threads, 512);
  sources.push_back(flush_source());
  for (const KernelSource& source : sources) {
    for (const int sm : {80, 90}) {
      const auto compiled = std::get<Nvrtc>(nvrtc).compile(source, sm);
      ASSERT_TRUE(std::holds_alternative<CompiledKernel>(compiled)) << std::get<1>(compiled);
      EXPECT_EQ(std::get<CompiledKernel>(compiled).spilled_bytes, 0) << source.entry;
      EXPECT_LE(std::get<CompiledKernel>(compiled).registers, 128) << source.entry;  // 512 threads
    }
  }
}

TEST(BuildKernels, RanksByWhatTheCompilerSays) {
  const Gpu gpu = load_gpu(source_path("configs/arch/h200.yaml"));
  KernelSpec problem;
  problem.problem = {4096, 4096, 4096, 1, GpuPrecision::kF16, Bytes{2}};
  std::vector<KernelSpec> specs;
  for (const KernelChoice& kernel : fixed_tiles(gpu, problem.problem)) {
    specs.push_back(problem);
    specs.back().kernel = kernel;
  }
  // The first takes so many registers that one block fits an SM; the second does not compile; the
  // third takes more than there are.
  const Compile compile = [&](const KernelSource& source) {
    std::variant<CompiledKernel, std::string> result = CompiledKernel{};
    auto& compiled = std::get<CompiledKernel>(result);
    compiled.image = "image";
    if (source.text == kernel_source(gpu, specs[1]).text) {
      result = std::string{"no"};
    } else {
      compiled.registers = source.text == kernel_source(gpu, specs[2]).text ? 300 : 250;
    }
    return result;
  };
  const std::vector<BuiltKernel> built = build_kernels(gpu, specs, compile, 1);
  ASSERT_EQ(built.size(), 4U);
  EXPECT_EQ(built[0].refusal + built[1].refusal, "");
  EXPECT_LE(built[0].predicted, built[1].predicted);
  EXPECT_EQ(built[0].spec.kernel.registers, 250);
  EXPECT_EQ(built[0].predicted, estimate(gpu, gpu.calibration(GpuPrecision::kF16, GpuPath::kWmma),
                                         problem.problem, built[0].spec.kernel)
                                    .time.total);
  for (const std::size_t i : {2, 3}) {
    EXPECT_THAT(built[i].refusal, ::testing::AnyOf("does not compile: no",
                                                   StartsWith("cannot run as it was compiled: ")));
  }
}

class ChooseCandidates : public ::testing::Test {
 protected:
  ChooseCandidates() { problem.problem = {1024, 1024, 1024, 1, GpuPrecision::kF16, Bytes{2}}; }
  double predicted(const KernelChoice& kernel) const {
    return estimate(gpu, gpu.calibration(GpuPrecision::kF16, GpuPath::kWmma), problem.problem,
                    kernel)
        .time.total.count();
  }
  // Every so many of the legal ones.
  std::vector<KernelChoice> legal(std::size_t step) const {
    std::vector<KernelChoice> kernels;
    const std::vector<KernelChoice> all = kernel_set(gpu, problem.problem, GpuPath::kWmma);
    for (std::size_t i = 0; i < all.size(); i += step) {
      KernelSpec spec = problem;
      spec.kernel = all[i];
      if (!not_generated(gpu, spec)) {
        kernels.push_back(all[i]);
      }
    }
    return kernels;
  }
  static std::vector<KernelChoice> kernels_of(const std::vector<KernelSpec>& specs) {
    std::vector<KernelChoice> kernels;
    for (const KernelSpec& spec : specs) {
      kernels.push_back(spec.kernel);
    }
    return kernels;
  }

  const Gpu gpu = load_gpu(source_path("configs/arch/h200.yaml"));
  KernelSpec problem;
};

TEST_F(ChooseCandidates, TakesTheBestOfDifferentTilesThenOthersOfTheirs) {
  const std::vector<KernelChoice> all = legal(7);
  CandidateOptions options;
  options.top = 12;
  options.sample = 8;
  options.fixed = false;
  const std::vector<KernelChoice> chosen =
      kernels_of(choose_candidates(gpu, problem, all, options));
  ASSERT_EQ(chosen.size(), 20U);
  const std::span<const KernelChoice> top{chosen.data(), 12};
  double best = 1;
  for (const KernelChoice& kernel : all) {
    best = std::min(best, predicted(kernel));
  }
  EXPECT_EQ(predicted(chosen[0]), best);
  for (std::size_t i = 1; i < top.size(); ++i) {
    EXPECT_GE(predicted(top[i]), predicted(top[i - 1]));
  }
  EXPECT_GE(distinct_tiles(top), 9);
  // Each of its tile's best, but for the three more.
  std::int64_t bests = 0;
  for (const KernelChoice& kernel : top) {
    const bool is_best = std::none_of(all.begin(), all.end(), [&](const KernelChoice& other) {
      return other.block == kernel.block && other.warp == kernel.warp &&
             predicted(other) < predicted(kernel);
    });
    bests += is_best ? 1 : 0;
  }
  EXPECT_GE(bests, 9);
  // Half of the drawn ones are fast.
  std::int64_t fast = 0;
  for (std::size_t i = 12; i < 20; ++i) {
    fast += predicted(chosen[i]) <= 2 * best ? 1 : 0;
  }
  EXPECT_GE(fast, 4);
}

TEST_F(ChooseCandidates, TakesVariantsWhereTilesAreFew) {
  std::vector<KernelChoice> all = legal(1);
  std::erase_if(all, [](const KernelChoice& k) {
    return k.block != GemmTile{128, 128, 32} || k.warp != GemmTile{64, 64, 32};
  });
  CandidateOptions options;
  options.top = 8;
  options.sample = 0;
  options.fixed = false;
  const std::vector<KernelChoice> chosen =
      kernels_of(choose_candidates(gpu, problem, all, options));
  EXPECT_EQ(chosen.size(), 8U);
  EXPECT_EQ(distinct_tiles(chosen), 1);
  EXPECT_EQ(std::set<KernelChoice>(chosen.begin(), chosen.end()).size(), 8U);
}

TEST_F(ChooseCandidates, DrawsBySeedAndAddsFixedTiles) {
  const std::vector<KernelChoice> all = legal(31);
  CandidateOptions options;
  options.top = 2;
  options.sample = 5;
  const auto chosen = choose_candidates(gpu, problem, all, options);
  EXPECT_GT(chosen.size(), 7U);
  EXPECT_LE(chosen.size(), 11U);
  EXPECT_EQ(chosen, choose_candidates(gpu, problem, all, options));
  options.seed = 2;
  EXPECT_NE(chosen, choose_candidates(gpu, problem, all, options));
}

}  // namespace
}  // namespace mapsim::measure_test
