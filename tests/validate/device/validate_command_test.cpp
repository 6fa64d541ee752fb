// SPDX-License-Identifier: Apache-2.0
// `mapsim validate` and `microbench` from the command line to the files, on fake_cuda.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "arch/gpu_load.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"
#include "validate/candidates.hpp"
#include "validate/measurements.hpp"

namespace mapsim::validate_command_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kArch = source_path("configs/arch/h200.yaml");

class ValidateCommand : public InFolder {
 protected:
  ValidateCommand() {
    write("mma.h", "\n");
    write("gemm.yaml",
          "name: small\ngemm: {m: 64, n: 96, k: 128}\n"
          "precision: {input: 16 b, weight: 16 b, output: 16 b, partial: 32 b}\n");
    write("conv.yaml",
          "name: image\nconv2d: {in_channels: 16, out_channels: 24, input: [9, 9], kernel: [3, 3], "
          "padding: 1, stride: 2}\n"
          "precision: {input: 16 b, weight: 16 b, output: 16 b, partial: 32 b}\n");
  }
  int run(const std::string& arguments, const std::string& fake = "",
          const std::string& driver = kFakeCuda) const {
    return shell(fmt::format(
        "MAPSIM_CUDA_LIBRARY='{5}' MAPSIM_NVML_LIBRARY='{1}' "
        "MAPSIM_NVRTC_LIBRARY='{1}' MAPSIM_CUBLAS_LIBRARY='{1}' MAPSIM_CUDA_INCLUDE='{0}' "
        "FAKE_CUDA='{2}' '{3}' {4}",
        folder().string(), kFakeCuda, fake, kProgram, arguments, driver));
  }
  int validate(const std::string& rest, const std::string& fake = "") const {
    return run("validate " + kArch +
                   " gemm.yaml conv.yaml --top 4 --sample 3 --rounds 3 "
                   "--per-kernel \"100 us\" --warm-up \"1 us\" --threads 2 " +
                   rest,
               fake);
  }
  std::vector<GpuMeasurement> rows(const std::string& name) const {
    return parse_measurements(file(name), name);
  }
};

TEST_F(ValidateCommand, MeasuresChecksAndReports) {
  ASSERT_EQ(validate("--measurements m.csv --svg plot.svg --report report.html --json"), 0)
      << file("stdout") << file("stderr");
  const std::vector<GpuMeasurement> measured = rows("m.csv");
  const auto count = [&](const auto& is) {
    return std::count_if(measured.begin(), measured.end(), is);
  };
  EXPECT_GE(count([](const auto& r) { return r.kernel && !r.naive; }), 14);
  EXPECT_EQ(count([](const auto& r) { return !r.kernel; }), 2);  // cuBLAS on both
  EXPECT_EQ(count([](const auto& r) { return r.naive; }), 2);
  EXPECT_EQ(count([](const auto& r) { return !r.convolution.empty(); }),
            count([](const auto& r) { return r.problem.n == 24; }));
  for (const GpuMeasurement& row : measured) {
    EXPECT_EQ(row.gpu, "h200");
    EXPECT_EQ(row.driver, "999.1");
    EXPECT_EQ(row.clock, Hertz{1830e6});
    EXPECT_THAT(row.origin, HasSubstr("Fake H200, NVRTC 13.0, cuBLAS 13.1.0"));
    EXPECT_TRUE(!row.kernel || row.kernel->registers);
    EXPECT_GT(row.least, Seconds{0});
  }
  const auto json = nlohmann::json::parse(file("stdout"));
  EXPECT_EQ(json["problems"][0]["name"], "small");
  EXPECT_EQ(json["problems"][1]["name"], "image");
  EXPECT_TRUE(json["refused"].empty());
  EXPECT_THAT(file("plot.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(file("report.html"), HasSubstr("static best"));
  // The file in place of the GPU says the same.
  ASSERT_EQ(validate("--device replay=m.csv --json --out replayed.json"), 0) << file("stderr");
  auto replayed = nlohmann::json::parse(file("replayed.json"));
  EXPECT_EQ(replayed["inputs"]["measurements"]["path"], "m.csv");
  replayed["inputs"].erase("measurements");
  EXPECT_EQ(replayed, json);
}

// The command line hands on what CUDA_HOME says; the library does not look.
TEST_F(ValidateCommand, LooksForHeadersInTheToolkitOfCudaHome) {
  std::filesystem::create_directories(folder() / "cuda/include");
  write("cuda/include/mma.h", "\n");
  ASSERT_EQ(shell(fmt::format("CUDA_HOME='{0}/cuda' FAKE_CUDA=options FAKE_CUDA_LOG=log "
                              "MAPSIM_CUDA_LIBRARY='{1}' MAPSIM_NVML_LIBRARY='{1}' "
                              "MAPSIM_NVRTC_LIBRARY='{1}' MAPSIM_CUBLAS_LIBRARY='{1}' '{2}' "
                              "validate {3} gemm.yaml --top 1 --sample 0 --once",
                              folder().string(), kFakeCuda, kProgram, kArch)),
            0)
      << file("stderr");
  EXPECT_THAT(file("log"),
              HasSubstr(fmt::format("compiled with -I{}/cuda/include\n", folder().string())));
}

TEST_F(ValidateCommand, ReportsWrongKernelsAndWritesNoTimesOfThem) {
  EXPECT_EQ(validate("--measurements m.csv", "wrong=kStages = 4"), 1) << file("stderr");
  for (const GpuMeasurement& row : rows("m.csv")) {
    EXPECT_TRUE(!row.kernel || row.naive || row.kernel->stages != 4);
  }
  EXPECT_THAT(file("stdout"), HasSubstr("stages 4 "));
  EXPECT_THAT(file("stdout"), HasSubstr(": wrong: C[0]["));
  EXPECT_THAT(file("m.csv"), HasSubstr("# refused: h200 f16 "));
}

TEST_F(ValidateCommand, GoesOnWhereItStopped) {
  ASSERT_EQ(validate("--measurements m.csv --no-library"), 0) << file("stderr");
  const std::string before = file("m.csv");
  ASSERT_EQ(validate("--measurements m.csv --no-library"), 0);
  EXPECT_EQ(file("m.csv"), before);  // nothing twice
  // A killed process: half a row at the end, and rows missing.
  const std::size_t cut = before.find_last_of('\n', before.size() - 2);
  write("m.csv", before.substr(0, cut + 20));
  ASSERT_EQ(validate("--measurements m.csv --no-library"), 0) << file("stderr");
  EXPECT_EQ(file("m.csv").substr(0, cut), before.substr(0, cut));
  EXPECT_EQ(rows("m.csv").size(), parse_measurements(before, "").size());
}

TEST_F(ValidateCommand, DoesNotTryAgainWhatEndedTheContext) {
  EXPECT_EQ(validate("--measurements m.csv", "lost=kStages = 3"), 130);
  EXPECT_THAT(file("stderr"), HasSubstr("run it again with the same --measurements"));
  EXPECT_THAT(file("m.csv"), HasSubstr("# lost: h200"));
  int code = 130;
  int tries = 0;
  for (; code == 130 && tries < 20; ++tries) {
    code = validate("--measurements m.csv", "lost=kStages = 3");
  }
  EXPECT_EQ(code, 1) << file("stdout") << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("not tried again"));
  EXPECT_GT(rows("m.csv").size(), 4U);
}

TEST_F(ValidateCommand, BlamesTheKernelThatTheProcessWasKilledIn) {
  const std::string inputs = "validate " + kArch + " gemm.yaml --top 1 --sample 0 --rounds 1 " +
                             "--warm-up \"1 us\" --no-library --measurements m.csv";
  EXPECT_EQ(run(inputs, "hang=kStages = 4"), 128 + 9);
  EXPECT_THAT(file("m.csv"), HasSubstr("\n# trying: h200"));
  EXPECT_EQ(run(inputs, ""), 1) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("not tried again: the process was killed"));
  EXPECT_THAT(file("m.csv"), Not(HasSubstr("# trying")));
  EXPECT_GT(rows("m.csv").size(), 1U);
}

// Of the library, one way after the other is left out; what is left is its row.
TEST_F(ValidateCommand, LeavesOutTheLibrarysWaysThatEndTheContextOrHang) {
  const std::string inputs = "validate " + kArch + " gemm.yaml --top 1 --sample 0 --rounds 1 " +
                             "--per-kernel \"100 us\" --warm-up \"1 us\" --measurements m.csv";
  EXPECT_EQ(run(inputs, "lost=cublasLt 1;hang=cublasGemmEx"), 128 + 9);
  EXPECT_THAT(file("m.csv"), HasSubstr(" hot library cublasGemmEx\n"));
  EXPECT_EQ(run(inputs, "lost=cublasLt 1;hang=cublasGemmEx"), 130) << file("stderr");
  EXPECT_THAT(file("m.csv"), HasSubstr(" hot library cuBLASLt 2 of 3 -- "));
  EXPECT_EQ(run(inputs, "lost=cublasLt 1;hang=cublasGemmEx"), 1) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("library cublasGemmEx: not tried again: the process was"));
  EXPECT_THAT(file("stdout"), HasSubstr("library cuBLASLt 2 of 3: not tried again: "));
  EXPECT_THAT(rows("m.csv").back().origin, HasSubstr("; cuBLASLt 1 of 3"));
  // All of it, by hand.
  const std::string what = measured_what(rows("m.csv").back());
  write("m.csv", measurements_header() + "# lost: " + what + " -- no\n");
  EXPECT_EQ(run(inputs), 1) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("hot library: not tried again: no\n"));
  EXPECT_TRUE(rows("m.csv").back().kernel);
}

TEST_F(ValidateCommand, RefusesKernelsWithMoreRegistersThanThereAre) {
  EXPECT_EQ(validate("--measurements m.csv", "spill=kStages = 4"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("cannot run as it was compiled: about 300 registers"));
}

TEST_F(ValidateCommand, JudgesNothingByTheHostsTimes) {
  ASSERT_EQ(validate("--measurements m.csv --json", "slow=0.2"), 0) << file("stderr");
  const std::vector<GpuMeasurement> measured = rows("m.csv");
  const auto host = std::count_if(measured.begin(), measured.end(),
                                  [](const GpuMeasurement& row) { return row.host_bound; });
  EXPECT_GE(host, 10);
  EXPECT_TRUE(measured.front().host_bound);
  EXPECT_THAT(measured.front().origin, HasSubstr("; a launch takes the host longer than this"));
  const auto json = nlohmann::json::parse(file("stdout"));
  EXPECT_EQ(json["host_bound"], host);
  EXPECT_TRUE(json["problems"][0]["library_s"].is_null());
  ASSERT_EQ(validate("--device replay=m.csv"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("rows are left out: a launch took the host longer"));
}

TEST_F(ValidateCommand, KeepsColdTimesApart) {
  ASSERT_EQ(validate("--measurements m.csv --no-library"), 0);
  const std::size_t hot = rows("m.csv").size();
  ASSERT_EQ(validate("--measurements m.csv --no-library --cold"), 0) << file("stderr");
  EXPECT_EQ(rows("m.csv").size(), 2 * hot);
  EXPECT_THAT(file("stdout"), HasSubstr("small (cold)"));
}

// Kernels of all paths compete, unless one path is asked for. Ceilings are those of their paths.
TEST_F(ValidateCommand, JudgesThePathThatIsAskedFor) {
  ASSERT_EQ(validate("--measurements m.csv --no-library"), 0) << file("stderr");
  const auto judged = [&](const std::string& path) {
    EXPECT_EQ(validate("--device replay=m.csv --json --out j.json" + path), 0) << file("stderr");
    return nlohmann::json::parse(file("j.json"));
  };
  const auto wmma = judged("");
  const Gpu gpu = load_gpu(kArch);
  std::vector<GpuMeasurement> added;
  for (GpuMeasurement row : rows("m.csv")) {
    if (row.kernel && !row.naive && row.problem.k == 128) {  // a kernel of the other path each
      const auto others = kernel_set(gpu, row.problem, GpuPath::kWgmma);
      row.kernel = others.at(added.size());
      added.push_back(row);
    }
  }
  ASSERT_FALSE(added.empty());
  write("m.csv", file("m.csv") + measurement_rows(added));
  const auto wgmma = judged(" --path wgmma");
  EXPECT_EQ(wgmma["kernels"], added.size());
  EXPECT_EQ(judged(" --path wmma")["problems"], wmma["problems"]);
  EXPECT_EQ(judged("")["kernels"], wmma["kernels"].get<std::size_t>() + added.size());
  const auto rate = [](const nlohmann::json& json) {  // of the path
    return 1 / (json["problems"][0]["best_s"].get<double>() *
                json["problems"][0]["share_of_ceiling"].get<double>());
  };
  const double faster =
      gpu.rate(GpuPrecision::kF16, GpuPath::kWgmma) / gpu.rate(GpuPrecision::kF16, GpuPath::kWmma);
  EXPECT_GT(faster, 1.3);
  EXPECT_NEAR(rate(wgmma) / rate(wmma), faster, 1e-9);
}

TEST_F(ValidateCommand, StopsAtItsBudget) {
  EXPECT_EQ(validate("--measurements m.csv --budget \"1 ns\""), 130);
  EXPECT_TRUE(rows("m.csv").empty());
}

TEST_F(ValidateCommand, SaysWhatIsMissing) {
  const std::string inputs = kArch + " gemm.yaml";
  EXPECT_EQ(run("validate " + inputs, "", "/nowhere/libcuda.so"), 2);
  EXPECT_EQ(
      file("stderr"),
      "mapsim: no CUDA driver, so no GPU can be used (/nowhere/libcuda.so: cannot open shared "
      "object file: No such file or directory); --device replay=FILE takes measurements that "
      "were made elsewhere\n");
  EXPECT_EQ(run("validate " + inputs, "sms=114"), 2);
  EXPECT_EQ(file("stderr"),
            "mapsim: the GPU here, Fake H200, has compute capability 9.0 and 114 SMs; h200 has 9.0 "
            "and 132: take its own architecture file\n");
  EXPECT_EQ(run("validate " + inputs + " --device replay=none.csv"), 2);
  EXPECT_EQ(run("validate " + inputs + " --device gpu"), 2);
  EXPECT_EQ(run("validate " + inputs + " --measurements gemm.yaml"), 2);
  EXPECT_EQ(run("validate " + inputs + " -o gemm.yaml"), 2);
  EXPECT_EQ(run("validate " + inputs + " --device replay=m.csv --measurements m.csv"), 2);
}

TEST_F(ValidateCommand, SaysWhyThereIsNoKernelAtAll) {
  EXPECT_EQ(validate("--precision s8 --no-library"), 1);
  EXPECT_THAT(file("stdout"),
              HasSubstr("refused: small: no wmma kernel: no output of 2 B of s8\n"));
}

TEST_F(ValidateCommand, ReadsCounters) {
  ASSERT_EQ(validate("--measurements m.csv --no-library"), 0);
  const std::string what = measured_what(rows("m.csv").front());
  write("ncu.csv", "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"\",\"\",\"byte\"\n\"0\",\"" +
                       what + "\",\"40960\"\n");
  ASSERT_EQ(validate("--device replay=m.csv --counters ncu.csv"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("counters of 1 of"));
  EXPECT_THAT(file("stdout"), HasSubstr("dram__bytes.sum"));
}

TEST_F(ValidateCommand, RunsEachKernelOnceForAProfiler) {
  ASSERT_EQ(validate("--once"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), Not(HasSubstr("refused")));
}

TEST_F(ValidateCommand, MeasuresRatesBesideTheFiles) {
  ASSERT_EQ(run("microbench " + kArch + " --out micro.csv"), 0) << file("stderr");
  const std::string csv = file("micro.csv");
  EXPECT_THAT(csv, HasSubstr("# mapsim microbenchmarks 1\ngpu,driver,sm_clock_mhz,what,"));
  // 1 ms each: 10,000 x 8 x 4096 x 16 MACs in 1.83e6 cycles.
  EXPECT_THAT(csv, HasSubstr("h200,999.1,1830,mma,f16,28"));
  EXPECT_THAT(csv, HasSubstr("dram copy,,2.1"));
  EXPECT_THAT(csv, HasSubstr("launch,,"));
}

}  // namespace
}  // namespace mapsim::validate_command_test
