// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/build_paths.hpp"

namespace mapsim::gpu_test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string text;  // of both streams
};

// `arguments` with ARCH: and GEMM for the shipped files.
Outcome run(std::string arguments) {
  for (const auto& [word, path] :
       {std::pair<std::string, std::string>{"ARCH:", source_path("configs/arch/")},
        {"LAYER:", source_path("configs/workloads/")},
        {"NETWORK:", source_path("configs/networks/")}}) {
    for (std::size_t at = 0; (at = arguments.find(word)) != std::string::npos;) {
      arguments.replace(at, word.size(), path);
    }
  }
  const std::string command = std::string{"'"} + kProgram + "' " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.text.append(buffer.data(), got);
  }
  outcome.code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

const std::string kSearch = "search ARCH:h200.yaml LAYER:gemm/4096.yaml ";

TEST(SearchOnGpu, PrintsRankedKernels) {
  const Outcome outcome = run(kSearch + "--top 10");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, StartsWith("gemm_4096 on h200: GEMM of 4096 x 4096 x 4096, s8\n"));
  EXPECT_THAT(outcome.text, HasSubstr("ceilings: tensor cores 1979, WMMA 1319, FMA 134"));
  EXPECT_THAT(outcome.text, HasSubstr("\n  1="));
  EXPECT_THAT(outcome.text, HasSubstr("\n  10"));
  EXPECT_THAT(outcome.text, HasSubstr("slower than the first, too close to tell"));
}

TEST(SearchOnGpu, SaysHowFarToTrustACalibratedChip) {
  const Outcome outcome =
      run("search ARCH:h200.yaml LAYER:gemm/4096.yaml --precision bf16 --top 2");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text,
              HasSubstr("calibrated on aiconfigurator_h200_bf16.csv: 9 of 10 measured "
                        "times are expected within a factor of 1.16"));
  EXPECT_THAT(outcome.text, HasSubstr("power limit "));
  EXPECT_THAT(outcome.text,
              ContainsRegex("\npower of the first kernel: [0-9,]+ W in a single launch, above the "
                            "board's limit of 700 W\\. .* lowers its clock in a long row of such "
                            "launches\n"));
  const Json json =
      Json::parse(run("search ARCH:l20.yaml LAYER:gemm/4096.yaml --precision f16_acc16 --path wmma "
                      "--top 1 --json")
                      .text);
  EXPECT_EQ(json["calibrated_on"], "leetcuda_hgemm.csv");
  EXPECT_LT(json["kernels"][0]["log_error_90"], 0.07);
}

TEST(SearchOnGpu, SaysWhoseCalibrationItShares) {
  const std::string search = "search ARCH:h100_sxm.yaml LAYER:gemm/4096.yaml --precision f16 ";
  EXPECT_THAT(run(search + "--top 1").text,
              HasSubstr("calibrated on aiconfigurator_h200_bf16.csv, measured on h200 in "
                        "bf16: 9 of 10 measured times are expected within a factor of 1.19, "
                        "widened because the fit is of another chip or precision\n"));
  const Json shared = Json::parse(run(search + "--top 1 --json").text)["calibration"];
  EXPECT_EQ(shared["fitted_from"], "aiconfigurator_h200_bf16.csv");
  EXPECT_EQ(shared["chip"], "h200");
  EXPECT_EQ(shared["precision"], "bf16");
  EXPECT_TRUE(shared["shared"]);
  EXPECT_GT(shared["log_error_90"], 0.15);
  const Json own =
      Json::parse(run(kSearch + "--precision bf16 --top 1 --json").text)["calibration"];
  EXPECT_EQ(own["chip"], "h200");
  EXPECT_FALSE(own["shared"]);
  EXPECT_LT(own["log_error_90"], 0.15);
  const Json none = Json::parse(run(kSearch + "--precision tf32 --top 1 --json").text);
  EXPECT_TRUE(none["calibration"].is_null());
}

TEST(SearchOnGpu, NamesNoCeilingThatThereIsNot) {
  const Outcome outcome = run(kSearch + "--precision fp8 --top 1");
  EXPECT_THAT(outcome.text, HasSubstr("ceilings: tensor cores 1979 Tops/s"));
}

TEST(SearchOnGpu, WritesJsonWithBoundsErrorsAndBytes) {
  const Outcome outcome = run(kSearch + "--precision bf16 --top 4 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const Json json = Json::parse(outcome.text);
  EXPECT_EQ(json["gpu"], "h200");
  EXPECT_EQ(json["forms"][0]["precision"], "bf16");
  ASSERT_EQ(json["kernels"].size(), 4U);
  const Json& first = json["kernels"][0];
  EXPECT_GT(first["seconds"], 4096.0 * 4096 * 4096 * 2 / 989.4e12);
  EXPECT_TRUE(first["as_good_as_first"]);
  EXPECT_GT(first["bytes"]["dram"], 3.0 * 4096 * 4096 * 2 - 1);
  double energy = 0;
  for (const auto& [key, value] : first["energy_pj"].items()) {
    energy += key == "total" ? 0 : value.get<double>();
  }
  EXPECT_DOUBLE_EQ(first["energy_pj"]["total"], energy);
  EXPECT_EQ(run(kSearch + "--precision bf16 --top 4 --json --threads 2").text, outcome.text);
  EXPECT_EQ(run(kSearch + "--precision bf16 --top 4 --export json").text, outcome.text);
}

TEST(SearchOnGpu, ExportsForTritonAndCutlass) {
  const std::string search = "search ARCH:a100_80gb.yaml LAYER:gemm/4096.yaml --precision f16 ";
  const Outcome triton = run(search + "--export triton");
  EXPECT_EQ(triton.code, 0);
  EXPECT_THAT(triton.text,
              StartsWith("import triton\n\nconfigs = [\n    triton.Config({'BLOCK_M': "));
  const Outcome cutlass = run(search + "--export cutlass");
  EXPECT_EQ(cutlass.code, 0);
  EXPECT_THAT(cutlass.text, StartsWith("operation_name,m,n,k,batch_count,split_k_slices,"));
  EXPECT_THAT(cutlass.text, HasSubstr("\ncutlass_tensorop_f16_s16816gemm_f16_"));
  const Outcome hopper = run(kSearch + "--precision bf16 --export cutlass --top 7");
  EXPECT_EQ(hopper.code, 0);
  int named = 0;
  for (std::size_t at = 0; (at = hopper.text.find("\ncutlass", at)) != std::string::npos; ++at) {
    ++named;
  }
  EXPECT_EQ(named, 7) << hopper.text;
  EXPECT_THAT(hopper.text, HasSubstr("\ncutlass3x_sm90_tensorop_gemm_bf16_"));
  EXPECT_THAT(hopper.text, testing::Not(HasSubstr("align1_")));
}

// tl.dot takes no blocks of 8; CUTLASS and Triton's tutorial have other kernels for windows.
TEST(SearchOnGpu, ExportsNoKernelsThatOtherToolsDoNotHave) {
  const Outcome few =
      run("search ARCH:h200.yaml --gemm 4x16384x16384 --precision f16 --export triton --top 50");
  EXPECT_EQ(few.code, 0) << few.text;
  EXPECT_THAT(few.text, HasSubstr("'BLOCK_M': 16, "));
  EXPECT_THAT(few.text, testing::Not(HasSubstr("'BLOCK_M': 8, ")));
  for (const char* format : {"triton", "cutlass"}) {
    const Outcome windows =
        run("search ARCH:a100_80gb.yaml LAYER:mobilenet_v2/depthwise_144_56.yaml --precision f16 "
            "--export " +
            std::string(format));
    EXPECT_EQ(windows.code, 1) << format;
    EXPECT_THAT(windows.text, StartsWith("mapsim: an implicit GEMM reads windows")) << format;
  }
}

TEST(SearchOnGpu, PricesAViolatedConstraintAndSaysSo) {
  const Outcome outcome =
      run("search ARCH:a100_80gb.yaml LAYER:resnet50/conv1.yaml --precision f16 --layout nchw");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, testing::AnyOf(HasSubstr("without tensor cores"), HasSubstr("NCHW")));
}

TEST(SearchOnGpu, RefusesWhatIsNotForIt) {
  const Outcome constraints = run(kSearch + "--pareto");
  EXPECT_EQ(constraints.code, 2);
  EXPECT_THAT(constraints.text, HasSubstr("--pareto: not for a GPU"));
  for (const std::string option :
       {"--max-latency '1 ms'", "--max-energy '1 uJ'", "--objective edp", "--objective energy",
        "--explain-energy", "--latency ramped", "--layout nhwc"}) {
    const Outcome refused = run(kSearch + option);
    EXPECT_EQ(refused.code, 2) << option;
    EXPECT_THAT(refused.text, StartsWith("mapsim: " + option.substr(0, option.find(' '))));
    EXPECT_THAT(refused.text, testing::AnyOf(HasSubstr("not for a GPU"), HasSubstr("is a GEMM")));
  }
  EXPECT_EQ(run(kSearch + "--objective latency --top 1").code, 0);
  EXPECT_THAT(run(kSearch + "--why").text,
              StartsWith("mapsim: --why: not for a GPU; the column 'bound' and the parts of "));
  EXPECT_THAT(run("eval ARCH:h200.yaml LAYER:gemm/4096.yaml --block 128x128x32 --why").text,
              StartsWith("mapsim: --why: not for a GPU; 'bound' and the parts of the time "));
  EXPECT_THAT(run("search ARCH:h200.yaml LAYER:resnet50/conv1.yaml --layout tn").text,
              HasSubstr("is a convolution; its tensors are nhwc or nchw"));
  const Outcome top = run("search ARCH:teaching.yaml LAYER:teaching/conv.yaml --top 3");
  EXPECT_EQ(top.code, 2);
  EXPECT_EQ(top.text, "mapsim: --top: only for a GPU, and ARCH is none\n");
  const std::string on_teaching = " ARCH:teaching.yaml LAYER:teaching/conv.yaml ";
  for (const std::string command : {"search", "roofline", "eval"}) {
    EXPECT_EQ(run(command + on_teaching + "--precision f16").text,
              "mapsim: --precision: only for a GPU, and ARCH is none\n");
  }
  EXPECT_EQ(run("eval" + on_teaching + "--stages 3").text,
            "mapsim: --stages: only for a GPU, and ARCH is none\n");
  const Outcome precision = run(kSearch + "--precision f15");
  EXPECT_EQ(precision.code, 2);
  EXPECT_THAT(precision.text, HasSubstr("no precision 'f15'; did you mean 'f16'?"));
  const Outcome show = run("show ARCH:h200.yaml");
  EXPECT_EQ(show.code, 2);
  EXPECT_THAT(show.text, HasSubstr("h200.yaml:"));
  EXPECT_THAT(show.text, HasSubstr("a GPU, which this command does not take"));
}

// A negative answer: CUTLASS has no WMMA kernels, and here there is nothing else to export.
TEST(SearchOnGpu, ExportsNothingWithExitCode1) {
  const Outcome none = run(kSearch + "--precision bf16 --path wmma --export cutlass");
  EXPECT_EQ(none.code, 1) << none.text;
  EXPECT_THAT(none.text, HasSubstr("kernels left out that CUTLASS does not have, 0 written"));
  const Outcome triton = run(kSearch + "--precision f16 --path simt --export triton");
  EXPECT_EQ(triton.code, 1);
  EXPECT_THAT(triton.text, HasSubstr("tl.dot takes the tensor cores"));
  const Outcome illegal = run("search ARCH:v100.yaml LAYER:gemm/4096.yaml --path wmma");
  EXPECT_EQ(illegal.code, 1) << illegal.text;
  EXPECT_THAT(illegal.text, HasSubstr("kernels is legal"));
}

// From the command to the figure: 8192^3 is limited by math, one row of it by memory.
TEST(RooflineOnGpu, HasALinePerKindOfArithmetic) {
  const Outcome text = run("roofline ARCH:h200.yaml LAYER:gemm/4096.yaml --precision bf16");
  EXPECT_EQ(text.code, 0) << text.text;
  EXPECT_THAT(text.text, HasSubstr("989.4 Top/s"));
  EXPECT_THAT(text.text, HasSubstr("WMMA"));
  const Outcome outcome =
      run("roofline ARCH:h200.yaml LAYER:gemm/4096.yaml --precision bf16 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const Json json = Json::parse(outcome.text);
  ASSERT_EQ(json["rooflines"].size(), 3U);
  const Json& chip = json["rooflines"][0];
  EXPECT_NEAR(chip["ops_per_second"], 989.4e12, 1e12);
  EXPECT_DOUBLE_EQ(chip["math_seconds"],
                   2 * 4096.0 * 4096 * 4096 / chip["ops_per_second"].get<double>());
  EXPECT_DOUBLE_EQ(chip["memory_seconds"], 3 * 2 * 4096.0 * 4096 / 4800e9);
  EXPECT_EQ(chip["limiter"], "math");
  EXPECT_EQ(run("roofline ARCH:teaching.yaml LAYER:teaching/conv.yaml --precision f16").code, 2);
}

TEST(NetworkOnGpu, AddsUpItsLayersAndStreams) {
  const std::string command = "network ARCH:a100_80gb.yaml NETWORK:resnet50.yaml --precision f16 ";
  const Outcome text = run(command);
  EXPECT_EQ(text.code, 0) << text.text;
  EXPECT_THAT(text.text, HasSubstr("inferences/s"));
  EXPECT_THAT(text.text, HasSubstr(" layers calibrated on aiconfigurator_a100_bf16.csv, measured "
                                   "in bf16; "));
  const Outcome outcome = run(command + "--json");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const Json json = Json::parse(outcome.text);
  double seconds = json["total"]["streams_latency_seconds"];
  double energy = json["total"]["streams_energy_pj"];
  for (const Json& layer : json["layers"]) {
    seconds += layer["count"].get<double>() * layer["latency_seconds"].get<double>();
    energy += layer["count"].get<double>() * layer["energy_pj"].get<double>();
  }
  EXPECT_NEAR(json["total"]["latency_seconds"], seconds, 1e-9 * seconds);
  EXPECT_NEAR(json["total"]["energy_pj"], energy, 1e-9 * energy);
  EXPECT_EQ(json["total"]["layers_missing"], 0);
  EXPECT_GT(json["total"]["macs"], 4e9);
  // One layer, as `search` ranks it.
  const Json& first = json["layers"][0];
  EXPECT_EQ(json["layers"].back()["calibration"]["precision"], "bf16");
  const std::string file =
      json["inputs"]["layer " + first["name"].get<std::string>()]["path"].get<std::string>();
  const Json alone = Json::parse(
      run("search ARCH:a100_80gb.yaml " + file + " --precision f16 --json --top 1").text);
  EXPECT_EQ(first["latency_seconds"], alone["kernels"][0]["seconds"]);
  EXPECT_EQ(run(command + "--even").code, 2);
  EXPECT_EQ(run(command + "--objective energy").code, 2);
}

// The published kernel whose wavefronts ncu counted as 3.4226e9 (goldens/gpu,
// wmma_h100_rtxpro6000).
TEST(EvalOnGpu, ReproducesThePublishedWavefronts) {
  const std::string layer = testing::TempDir() + "eval_8192.yaml";
  std::ofstream{layer} << "name: g\ngemm: {m: 8192, n: 8192, k: 8192}\n";
  const std::string command =
      "eval ARCH:h100_sxm.yaml " + layer +
      " --precision f16 --layout tt --path wmma --block 128x128x32 --warp 32x32 --padding 0";
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("3.42255e+09"));
  EXPECT_THAT(outcome.text, HasSubstr("best wmma: "));
  EXPECT_THAT(outcome.text, testing::Not(HasSubstr("power of ")));  // far below 700 W
  const Json json = Json::parse(run(command + " --json").text);
  EXPECT_NEAR(json["kernel"]["bytes"]["shared_wavefronts"], 3.42255e9, 1e4);
  EXPECT_EQ(json["kernel"]["bound"], "shared memory");
  EXPECT_LT(json["best_of_path"]["seconds"], json["kernel"]["seconds"]);
}

// What a search writes can be priced again, and is the same; options change it.
TEST(EvalOnGpu, ReadsWhatSearchWrites) {
  const std::string file = testing::TempDir() + "eval_kernel.json";
  const std::string layer = " ARCH:a100_80gb.yaml LAYER:gemm/512.yaml ";
  const Json found = Json::parse(run("search" + layer + "--precision f16 --top 1 --json").text);
  std::ofstream{file} << found.dump();
  const std::string command = "eval" + layer + file + " --precision f16 --json";
  const Json same = Json::parse(run(command).text);
  EXPECT_EQ(same["kernel"]["seconds"], found["kernels"][0]["seconds"]);
  EXPECT_EQ(same["kernel"]["kernel"], found["kernels"][0]["kernel"]);
  const Json split = Json::parse(run(command + " --split-k 3").text);
  EXPECT_EQ(split["kernel"]["kernel"]["split_k"], 3);
  EXPECT_GE(split["kernel"]["seconds"], found["kernels"][0]["seconds"]);
}

// The kernel of a campaign's row is a file that eval reads, and takes as long.
TEST(EvalOnGpu, ReadsTheKernelsOfCampaigns) {
  const std::string folder = testing::TempDir() + "gpu_campaign";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream{folder + "/c.yaml"}
      << "name: c\narchitectures: [{file: " << source_path("configs/arch/a100_80gb.yaml")
      << ", precision: f16}]\nworkloads: [" << source_path("configs/workloads/gemm/512.yaml")
      << "]\n";
  ASSERT_EQ(run("sweep " + folder + "/c.yaml --db " + folder + "/r.sqlite").code, 0);
  const Json row = Json::parse(run("results " + folder + "/r.sqlite --json").text)["points"][0];
  std::ofstream{folder + "/kernel.yaml"} << row["mapping"].get<std::string>();
  const Json again = Json::parse(run("eval ARCH:a100_80gb.yaml LAYER:gemm/512.yaml " + folder +
                                     "/kernel.yaml --precision f16 --json")
                                     .text);
  EXPECT_EQ(again["kernel"]["seconds"], row["latency_seconds"]);
}

TEST(EvalOnGpu, SaysWhyAKernelCannotRun) {
  const std::string layer = "eval ARCH:a100_80gb.yaml LAYER:gemm/512.yaml --precision f16 ";
  const Outcome large = run(layer + "--block 256x256x64 --warp 64x64");
  EXPECT_EQ(large.code, 1) << large.text;
  EXPECT_THAT(large.text, HasSubstr("illegal: "));
  EXPECT_EQ(run(layer + "--block 96x192x32 --warp 32x64").code, 0);
  // Tensor cores have no fragment of 33: what is shown then runs without them, and says why.
  const Outcome odd = run(layer + "--block 128x128x33");
  EXPECT_EQ(odd.code, 0);
  EXPECT_THAT(odd.text, ContainsRegex("^mma 128x128x33 .*: illegal: [^\n]+\n"
                                      "the simt kernel of these tiles is shown instead\n\n"
                                      ".*this: simt"));
  EXPECT_EQ(run(layer).text, "mapsim: which kernel? a file of one, or --block MxNxK\n");
  EXPECT_EQ(run(layer + "--block 96x192").text,
            "mapsim: --block: '96x192' is not MxNxK, like 128x128x32\n");
  EXPECT_EQ(run("eval ARCH:teaching.yaml LAYER:gemm/512.yaml").text,
            "mapsim: MAPPING is required\n");
}

const std::string kExport = "export cuda ARCH:h200.yaml LAYER:gemm/4096.yaml ";

// The kernel that was searched for, as it is in the result's file.
TEST(ExportCuda, WritesTheChosenKernelAndHowToLaunchIt) {
  const std::string file = testing::TempDir() + "mapsim_export_cuda.json";
  const std::string search = kSearch + "--precision f16 --path wmma --top 3 --export json";
  ASSERT_EQ(run(search + " >" + file).code, 0);
  std::ifstream stream{file};
  const Json kernel = Json::parse(stream)["kernels"][2];
  const Outcome third = run(kExport + file + " --kernel 3 --precision f16 --bias --relu");
  EXPECT_EQ(third.code, 0);
  EXPECT_THAT(third.text, StartsWith("// gemm_4096: C[1][4096][4096] = A B, K = 4096, f16, A by "
                                     "rows, B by columns; bias; ReLU\n// Kernel: wmma "));
  EXPECT_THAT(third.text, HasSubstr("<<<" + kernel["resources"]["blocks"].dump() + ", " +
                                    kernel["kernel"]["threads"].dump() + ", " +
                                    kernel["resources"]["shared_bytes"].dump() + ">>>"));
  EXPECT_THAT(third.text, HasSubstr("bool kRelu = true;"));
  EXPECT_THAT(third.text, HasSubstr("bias: 16384 B"));
  EXPECT_THAT(third.text, HasSubstr("extern \"C\" __global__"));
  EXPECT_THAT(run(kExport + file + " --precision f16 --layout nt").text,
              HasSubstr(", A by columns, B by rows\n"));
  // The precision and the layout of the search, unless another is asked for.
  EXPECT_EQ(run(kExport + file + " --kernel 3 --bias --relu").text, third.text);
  // Without a file: the first.
  EXPECT_EQ(run(kExport + "--precision f16 --path wmma").text,
            run(kExport + file + " --precision f16").text);
  EXPECT_EQ(run(kExport + file + " --kernel 4 --precision f16").code, 2);
  std::remove(file.c_str());
}

// What a search recommends on a chip without warpgroup MMA can be written as it stands.
TEST(ExportCuda, WritesTheKernelThatASearchRecommends) {
  const std::string file = testing::TempDir() + "mapsim_export_mma.json";
  ASSERT_EQ(
      run("search ARCH:a100_40gb.yaml LAYER:gemm/4096.yaml --precision f16 --export json >" + file)
          .code,
      0);
  const std::string a100 = "export cuda ARCH:a100_40gb.yaml LAYER:gemm/4096.yaml ";
  const Outcome kernel = run(a100 + file + " --bias --gelu");
  EXPECT_EQ(kernel.code, 0);
  EXPECT_THAT(kernel.text, HasSubstr("mapsim_mma_f16_tn_to2_align16x16x16_"));
  EXPECT_THAT(kernel.text, HasSubstr("m = 4096, n = 4096, k = 4096, batch = 1, slices = "));
  EXPECT_THAT(kernel.text, HasSubstr("kActivation = 2;"));
  EXPECT_EQ(run(a100 + "--precision f16 --bias --gelu").text, kernel.text);
  EXPECT_THAT(run(a100 + "--precision f16 --path wmma --gelu").text,
              HasSubstr("for another epilogue take mma"));
  std::remove(file.c_str());
}

TEST(ExportCuda, WritesAProgramThatTimesTheBest) {
  const Outcome program =
      run("search ARCH:a100_40gb.yaml LAYER:gemm/4096.yaml --precision f16 --top 3 --export cuda");
  EXPECT_EQ(program.code, 0);
  EXPECT_THAT(program.text, HasSubstr("\nstruct Spec2 {\n"));
  EXPECT_THAT(program.text, ::testing::Not(HasSubstr("\nstruct Spec3 {\n")));
  EXPECT_THAT(program.text, HasSubstr("int main(int argc, char** argv)"));
  EXPECT_EQ(run("search ARCH:a100_40gb.yaml LAYER:gemm/4096.yaml --precision f16 --path wmma "
                "--export cuda")
                .code,
            2);
}

TEST(ExportCuda, SaysWhatIsWrong) {
  const std::string file = testing::TempDir() + "mapsim_bad_kernel.yaml";
  std::ofstream{file} << "kernel: {block: [128, 128], warp: [64, 64], stage: 4}\n";
  const Outcome bad = run(kExport + file);
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.text, HasSubstr("bad_kernel.yaml:1:17: kernel.block: three extents: [m, n, k]"));
  EXPECT_THAT(bad.text, HasSubstr("unknown key 'stage'; did you mean 'stages'?"));
  std::ofstream{file} << "{block: [128, 128, 32], warp: [64, 48]}\n";
  const Outcome illegal = run(kExport + file + " --precision f16");
  EXPECT_EQ(illegal.code, 2);
  EXPECT_THAT(illegal.text, HasSubstr("wmma 128x128x32 warp 64x48 "));
  EXPECT_EQ(run("export timeloop ARCH:h200.yaml LAYER:gemm/4096.yaml " + file + " --relu").text,
            "mapsim: --relu: only for export cuda\n");
  std::remove(file.c_str());
}

}  // namespace
}  // namespace mapsim::gpu_test
