// SPDX-License-Identifier: Apache-2.0
// What 'export cuda' and 'search --export cuda' write: the kernel that a search puts first, or why
// it is another one; and programs that nvcc builds, where it is installed.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/build_paths.hpp"

namespace mapsim::cuda_program_test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct Said {
  int code = -1;
  std::string out, err;
};

std::string whole(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

Said say(const std::string& arguments) {
  const std::string file = testing::TempDir() + "mapsim_cuda_program" + std::to_string(getpid());
  const std::string command =
      std::string{"'"} + kProgram + "' " + arguments + " >" + file + ".out 2>" + file + ".err";
  const int status = std::system(command.c_str());
  Said said{WEXITSTATUS(status), whole(file + ".out"), whole(file + ".err")};
  std::filesystem::remove(file + ".out");
  std::filesystem::remove(file + ".err");
  return said;
}

// "mma 128x64x32 ..." of a result's kernel, as far as the head of an export begins with it.
std::string words_of(const Json& kernel) {
  const auto tile = [](const Json& of, std::size_t sides) {
    std::string text;
    for (std::size_t i = 0; i < sides; ++i) {
      text += (i > 0 ? "x" : "") + of[i].dump();
    }
    return text;
  };
  return kernel["path"].get<std::string>() + " " + tile(kernel["block"], 3) + " warp " +
         tile(kernel["warp"], 2) + " frag " + tile(kernel["fragment"], 3) + " stages " +
         kernel["stages"].dump() + " split " + kernel["split_k"].dump() + " raster " +
         kernel["raster"].dump() + " ";
}

// Where a search's first kernel can be written, it is what is exported; where not, the search and
// both streams of the export say so, and agree about which kernel is written instead.
TEST(WrittenKernels, AreThoseOfTheSearchOrItIsSaidWhyNot) {
  std::int64_t others = 0;
  for (const char* const chip : {"a100_40gb", "h200", "rtx4090"}) {
    for (const char* const layer :
         {"resnet50/conv1", "resnet50/conv2_3x3", "resnet50/fc", "llama_7b/decode_scores",
          "--gemm 4096x4096x4096", "--gemm 2047x1023x513", "--gemm 128x4096x4096",
          "--gemm 512x512x512"}) {
      SCOPED_TRACE(std::string{chip} + " " + layer);
      const std::string what = std::string{chip} + " " + layer + " --precision f16";
      const Said search = say("search " + what + " --json");
      ASSERT_EQ(search.code, 0) << search.err;
      const Json result = Json::parse(search.out);
      const Json& first = result["kernels"][0];
      const std::string reason = first["not_written"];
      const Said written = say("export cuda " + what);
      ASSERT_EQ(written.code, 0) << written.err;
      const Json& expected = reason.empty() ? first : result["best_written"];
      ASSERT_FALSE(expected.is_null());
      EXPECT_THAT(written.out, HasSubstr("\n// Kernel: " + words_of(expected["kernel"])));
      EXPECT_THAT(written.out, ContainsRegex("\n// Predicted for [^\n]* 90 % interval "));
      if (reason.empty()) {
        EXPECT_EQ(written.err, "");
        EXPECT_TRUE(result["best_written"].is_null());
        EXPECT_THAT(written.out, Not(HasSubstr("Not the first")));
      } else {
        ++others;
        EXPECT_THAT(written.err, HasSubstr(words_of(first["kernel"])));
        EXPECT_THAT(written.err, HasSubstr(reason));
        EXPECT_THAT(written.out,
                    HasSubstr("\n// Not the first of the search: " + words_of(first["kernel"])));
        EXPECT_THAT(say("search " + what).out,
                    HasSubstr("\n!: 'export cuda' does not write it: " + reason +
                              "; the best that it writes is " + words_of(expected["kernel"])));
      }
    }
  }
  EXPECT_GE(others, 2);  // conv1 has three channels
}

// A fit that is good for times only: its best kernel on average comes first, wherever kernels are.
TEST(WrittenKernels, AreTheBestOnAverageWhereAFitIsGoodForTimesOnly) {
  const std::string file = testing::TempDir() + "mapsim_fixed.yaml";
  std::string arch = whole(source_path("configs/arch/a100_40gb.yaml"));
  arch = arch.substr(0, arch.find("  calibration:"));
  std::ofstream{file} << arch
                      << "  calibration:\n    - {precision: f16, path: mma, mma: 0.9, best_fixed: "
                         "{block: [128, 128, 32], warp: [64, 32], fragment: [16, 16, 16], stages: "
                         "4, raster: 8}}\n";
  const std::string what = file + " --gemm 512x512x8192 --precision f16";
  const Json first = Json::parse(say("search " + what + " --json").out)["kernels"][0];
  EXPECT_TRUE(first["best_on_average"]);
  EXPECT_THAT(say("export cuda " + what).out,
              HasSubstr("\n// Kernel: " + words_of(first["kernel"])));
  const std::string program = say("search " + what + " --top 3 --export cuda").out;
  const std::size_t at = program.find("kernels.push_back({\"");
  EXPECT_THAT(program.substr(at, 120), HasSubstr("_128x128x32_warp64x32_stages4 "));
  std::filesystem::remove(file);
}

TEST(WrittenKernels, SayWhatTheyLack) {
  const std::string gemm = " --gemm 512x512x512 --precision ";
  EXPECT_THAT(say("export cuda v100" + gemm + "f16").err, HasSubstr("for sm_75 and later"));
  const std::string file = testing::TempDir() + "mapsim_f32.yaml";
  std::ofstream{file}
      << "name: g\ngemm: {m: 512, n: 512, k: 512}\nprecision: {A: 32 b, B: 32 b, Z: "
         "32 b, partial: 32 b}\n";
  for (const std::string& request :
       {"export cuda a100_40gb " + file, "search a100_40gb " + file + " --export cuda"}) {
    EXPECT_THAT(say(request).err, HasSubstr("has no tensor cores for f32"));
  }
  EXPECT_THAT(say("search a100_40gb " + file).out, HasSubstr("\n!: 'export cuda' does not write"));
  std::filesystem::remove(file);
  EXPECT_THAT(say("export cuda h200 resnet50/conv2_3x3 --precision f16 --path wgmma").err,
              HasSubstr("no windows of a convolution"));
  EXPECT_THAT(say("export cuda a100_40gb resnet50/conv1 --precision f16 --path mma").err,
              HasSubstr("3 channels are no multiple of 8 elements"));
  const std::string head =
      say("export cuda a100_40gb" + gemm + "f16 --bias --gelu --residual --quantise").out;
  EXPECT_THAT(head.substr(0, head.find('\n')),
              HasSubstr("; bias; residual; GELU; rounded to 8 bits"));
}

TEST(WrittenKernels, HaveTheImageThatTheLayerSays) {
  const std::string file = testing::TempDir() + "mapsim_rect.yaml";
  std::ofstream{file} << "name: rect\nconv2d: {in_channels: 64, out_channels: 64, input: [20, 24], "
                         "kernel: [5, 3], padding: [2, 0]}\n";
  EXPECT_THAT(say("export cuda a100_40gb " + file + " --precision f16").out,
              HasSubstr("convolution n1 h20 w24 c64 k64 r5 s3 p20 q22 stride 1x1 dilation 1x1 "
                        "padding 2x0 groups 1"));
  std::filesystem::remove(file);
}

std::string nvcc() {
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string& path : {home == nullptr ? std::string{} : std::string{home} + "/bin/nvcc",
                                  std::string{"/usr/local/cuda/bin/nvcc"}}) {
    if (!path.empty() && std::filesystem::exists(path)) {
      return path;
    }
  }
  return "";
}

// Programs that time kernels, as the head of each says that it is built.
TEST(CudaProgram, IsBuiltByNvccAlone) {
  if (nvcc().empty()) {
    GTEST_SKIP() << "no nvcc; docs/kernels.md says where it comes from";
  }
  const std::string file = testing::TempDir() + "mapsim_program";
  for (const char* const request : {
           "t4 --gemm 1024x1024x1024 --precision f16 --top 2",
           "a100_40gb --gemm 512x512x8192 --precision bf16 --top 2",
           "rtx3090 resnet50/conv2_3x3 --precision f16 --top 2",
           "rtx4090 --gemm 1024x1024x1024 --precision s8 --top 2",
           "h200 --gemm 512x512x8192 --precision f16 --top 4",
           "h200 --gemm 2047x1023x513 --precision bf16 --top 2",
       }) {
    SCOPED_TRACE(request);
    const Said program = say(std::string{"search "} + request + " --export cuda");
    ASSERT_EQ(program.code, 0) << program.err;
    std::ofstream{file + ".cu"} << program.out;
    const std::string begin = "// Build: nvcc ";
    const std::size_t at = program.out.find(begin) + begin.size();
    const std::string options = program.out.substr(at, program.out.find(" THIS.cu", at) - at);
    const std::string command =
        nvcc() + " " + options + " " + file + ".cu -o " + file + " >" + file + ".log 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << whole(file + ".log");
  }
  for (const char* const end : {"", ".cu", ".log"}) {
    std::filesystem::remove(file + end);
  }
}

TEST(CudaProgram, TimesWarpgroupKernelsWhereASearchRecommendsThem) {
  const std::string what = "search h200 --gemm 4096x4096x4096 --precision f16 --export cuda";
  for (const char* const path : {"", " --path wgmma"}) {
    const Said program = say(what + path);
    EXPECT_EQ(program.code, 0) << program.err;
    EXPECT_THAT(program.out, HasSubstr("kernels.push_back({\"mapsim_wgmma_f16_tn_"));
    EXPECT_THAT(program.out, HasSubstr("cuTensorMapEncodeTiled"));
    EXPECT_THAT(program.out, HasSubstr("-gencode arch=compute_90a,code=sm_90a"));
    EXPECT_EQ(program.err, "");
  }
  EXPECT_THAT(say(what + " --path mma").out, Not(HasSubstr("cuTensorMapEncodeTiled")));
  EXPECT_THAT(say(what + " --path wmma").err, HasSubstr("of the paths mma and wgmma"));
  // Rows of 513 elements: the TMA takes none of them.
  const Said odd = say("search h200 --gemm 2047x1023x513 --precision f16 --export cuda");
  EXPECT_THAT(odd.out + odd.err, Not(HasSubstr("wgmma")));
}

// What is printed beside a median is the price of what the median is of.
TEST(CudaProgram, PredictsWhatItMeasures) {
  const std::string what = "a100_80gb --gemm 1x4096x4096 --precision f16";
  const Json cold = Json::parse(say("search " + what + " --json").out)["kernels"][0];
  const std::string program = say("search " + what + " --export cuda").out;
  const std::size_t line = program.find("kernels.push_back({");
  const std::string numbers = program.substr(line, program.find(", arguments0", line) - line);
  const double hot = std::stod(numbers.substr(numbers.rfind(',') + 1));
  EXPECT_LT(hot, 0.9 * cold["seconds"].get<double>());
  EXPECT_GT(hot, 0.3 * cold["seconds"].get<double>());
}

}  // namespace
}  // namespace mapsim::cuda_program_test
