// SPDX-License-Identifier: Apache-2.0
// Files of the wrong kind, and files that are not there: what the program says, whole.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::inputs_test {
namespace {

class WrongInputs : public InFolder {
 protected:
  WrongInputs() {
    const std::filesystem::path configs{source_path("configs")};
    for (const auto& [link, target] : std::vector<std::pair<std::string, std::string>>{
             {"arch.yaml", "arch/teaching.yaml"},
             {"layer.yaml", "workloads/gemm/512.yaml"},
             {"network.yaml", "networks/alexnet.yaml"}}) {
      std::filesystem::create_symlink(configs / target, folder() / link);
    }
    write("proof.yaml", "certificate: 1\nmapping:\n");
    write("mapping.yaml", "mapping:\n");
    write("rules.yaml", "mapspace: {tiling: even}\n");
    write("campaign.yaml", "name: c\narchitectures: [arch.yaml]\n");
    write("design.yaml", "architecture: {version: 0.4}\n");
    write("table.yaml", "ERT: {version: 0.4}\n");
    write("tool.cfg", "[general]\nrun_name = a\n");
    write("topology.csv", "Layer name, IFMAP Height,\n");
    write("measured.csv", "# mapsim measurements 1\n");
    write("kernel.yaml", "kernel: {block: [128, 128, 32]}\n");
    write("result.json", "{\n  \"schema\": 2,\n  \"tool\": {\n    \"name\": \"mapsim\",\n");
    write("printed.txt", "layer on arch\n  Z[M] += A[M]\n\nmapping:\n  MAC\n");
    write("model.onnx", "\x08\x07\x12\x04onnx");
    write("results.sqlite", std::string{"SQLite format 3\0", 16});
  }
  // What the command says on standard error, with exit code 2 and nothing on standard output.
  std::string complaint(const std::string& arguments) const {
    EXPECT_EQ(shell(fmt::format("'{}' {}", kProgram, arguments)), 2) << arguments;
    EXPECT_EQ(file("stdout"), "") << arguments;
    return file("stderr");
  }
};

// It has the keys of what it is about, too.
TEST_F(WrongInputs, KnowACertificateInEveryPlace) {
  for (const char* arguments :
       {"eval arch.yaml layer.yaml proof.yaml", "simulate arch.yaml layer.yaml proof.yaml",
        "search arch.yaml layer.yaml --constraints proof.yaml",
        "import timeloop proof.yaml -o x"}) {
    EXPECT_THAT(complaint(arguments), testing::HasSubstr("this is a certificate")) << arguments;
  }
}

TEST_F(WrongInputs, AreNamedAsWhatTheyAre) {
  const std::vector<std::array<std::string, 3>> files{
      {"proof.yaml", "a certificate; mapsim check reads it", "certificate: 1"},
      {"rules.yaml", "a file of constraints; hand it in with --constraints",
       "mapspace: {tiling: even}"},
      {"mapping.yaml", "a mapping; mapsim eval and mapsim simulate read it", "mapping:"},
      {"kernel.yaml", "a kernel; mapsim eval and mapsim export cuda read it",
       "kernel: {block: [128, 128, 32]}"},
      {"design.yaml", "a Timeloop design; mapsim import timeloop reads it",
       "architecture: {version: 0.4}"},
      {"table.yaml", "an Accelergy table; an architecture names it as ert or art",
       "ERT: {version: 0.4}"},
      {"tool.cfg", "a SCALE-Sim configuration; mapsim import scalesim reads it", "[general]"},
      {"topology.csv", "a SCALE-Sim topology; mapsim import scalesim reads it",
       "Layer name, IFMAP Height,"},
      {"measured.csv", "a measurements file; mapsim calibrate reads it", "# mapsim measurements 1"},
      {"result.json", "a result that --json wrote; mapsim report reads it", "{"},
      {"printed.txt",
       "the text that a command printed; --save-mapping FILE of mapsim search writes the mapping, "
       "and --json a result",
       "layer on arch"}};
  for (const auto& [name, what, line] : files) {
    const std::string is = what.substr(0, what.find(';'));
    const std::string use = what.substr(what.find(';'));
    const std::string shown = fmt::format("{}\n^\n", line);
    if (name != "rules.yaml") {  // then both could be swapped
      EXPECT_EQ(complaint("search arch.yaml " + name),
                fmt::format("{}:1:1: this is {}, not a workload{}\n{}", name, is, use, shown));
    }
    EXPECT_EQ(complaint("roofline " + name + " layer.yaml"),
              fmt::format("{}:1:1: this is {}, not an architecture{}\n{}", name, is, use, shown));
  }
  EXPECT_EQ(
      complaint("search arch.yaml model.onnx"),
      "model.onnx: this is an ONNX model, not a workload; mapsim network reads it where its name "
      "ends in .onnx\n");
  EXPECT_EQ(complaint("search results.sqlite layer.yaml"),
            "results.sqlite: this is a results database, not an architecture; mapsim results and "
            "mapsim report read it\n");
  EXPECT_EQ(complaint("search arch.yaml campaign.yaml"),
            "campaign.yaml:2:1: this is a campaign, not a workload; mapsim sweep reads it\n"
            "architectures: [arch.yaml]\n"
            "^\n");
  EXPECT_EQ(complaint("search arch.yaml network.yaml"),
            "network.yaml:7:1: this is a network, not a workload; mapsim network reads it\n"
            "layers:\n"
            "^\n");
}

TEST_F(WrongInputs, OfImportsAreNamedWithTheToolThatTheyAreOf) {
  write("forge.yaml", "workload: {einsums: []}\n");
  write("zigzag.yaml", "operational_array: {}\n");
  for (const char* arguments :
       {"import accelforge design.yaml -o x", "import zigzag design.yaml -o x",
        "import accelforge tool.cfg -o x", "import zigzag tool.cfg -o x",
        "import accelforge zigzag.yaml -o x", "import zigzag forge.yaml -o x"}) {
    EXPECT_THAT(complaint(arguments),
                testing::ContainsRegex("this is a.*, not a.*; mapsim import [a-z]+ reads it"))
        << arguments;
  }
  EXPECT_THAT(complaint("import accelforge design.yaml -o x"),
              testing::HasSubstr("design.yaml:1:1: this is a Timeloop design, not an AccelForge "
                                 "file; mapsim import timeloop reads it"));
}

TEST_F(WrongInputs, MayBeSwapped) {
  EXPECT_EQ(complaint("search layer.yaml arch.yaml"),
            "layer.yaml:6:1: this is a workload, not an architecture; are ARCH and WORKLOAD "
            "swapped?\n"
            "gemm: {m: 512, n: 512, k: 512}\n"
            "^\n"
            "arch.yaml:13:1: this is an architecture, not a workload; are WORKLOAD and ARCH "
            "swapped?\n"
            "nodes:\n"
            "^\n");
  EXPECT_EQ(complaint("eval arch.yaml mapping.yaml layer.yaml"),
            "mapping.yaml:1:1: this is a mapping, not a workload; are WORKLOAD and MAPPING "
            "swapped?\n"
            "mapping:\n"
            "^\n"
            "layer.yaml:6:1: this is a workload, not a mapping; are MAPPING and WORKLOAD "
            "swapped?\n"
            "gemm: {m: 512, n: 512, k: 512}\n"
            "^\n");
}

TEST_F(WrongInputs, OfScaleSimMayBeSwapped) {
  EXPECT_EQ(complaint("import scalesim topology.csv tool.cfg -o out"),
            "topology.csv:1:1: this is a SCALE-Sim topology, not a SCALE-Sim configuration; are "
            "CONFIGURATION and TOPOLOGY swapped?\n"
            "Layer name, IFMAP Height,\n"
            "^\n"
            "tool.cfg:1:1: this is a SCALE-Sim configuration, not a SCALE-Sim topology; are "
            "TOPOLOGY and CONFIGURATION swapped?\n"
            "[general]\n"
            "^\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "out"));
}

// Nothing is swapped where there is but one file; an example in a text does not make it a mapping.
TEST_F(WrongInputs, AreNotGuessedAt) {
  EXPECT_EQ(complaint("search arch.yaml arch.yaml"),
            "arch.yaml:13:1: this is an architecture, not a workload; it is the ARCH of mapsim "
            "search and others\nnodes:\n^\n");
  write("README.md", "# A tool\n\nWhat comes out\n\nmapping:\n  for N\n");
  EXPECT_THAT(complaint("search arch.yaml README.md"),
              testing::Not(testing::HasSubstr("this is a mapping")));
}

// One command each with an input of its own kind.
TEST_F(WrongInputs, AreNamedByEveryCommand) {
  const std::string workload = "layer.yaml:6:1: this is a workload, not ";
  const std::string shown =
      "; it is the WORKLOAD of mapsim search and others\n"
      "gemm: {m: 512, n: 512, k: 512}\n^\n";
  for (const auto& [arguments, expected] : std::vector<std::pair<std::string, std::string>>{
           {"network arch.yaml layer.yaml", "a network"},
           {"sweep layer.yaml --db new.sqlite", "a campaign"},
           {"sweep campaign.yaml --db layer.yaml", "a results database"},
           {"merge new.sqlite layer.yaml", "a results database"},
           {"results layer.yaml", "a results database"},
           {"report layer.yaml -o page.html", "a results database"},
           {"check layer.yaml", "a certificate"},
           {"search arch.yaml arch.yaml --constraints layer.yaml", ""},
           {"eval arch.yaml layer.yaml layer.yaml", ""},
           {"show layer.yaml", "an architecture"},
           {"microbench layer.yaml", "an architecture"},
           {"calibrate layer.yaml --arch arch.yaml", "a measurements file"},
           {"validate arch.yaml layer.yaml --device replay=layer.yaml", ""},
           {"import timeloop layer.yaml -o out", "a Timeloop design"},
           {"import scalesim layer.yaml topology.csv -o out", "a SCALE-Sim configuration"},
           {"import onnx layer.yaml -o out", "an ONNX model"},
           {"import gpu-table layer.yaml -o out", "a table of measured kernels"}}) {
    if (expected.empty()) {  // another input wants a workload
      EXPECT_THAT(complaint(arguments), testing::HasSubstr(workload)) << arguments;
    } else {
      EXPECT_EQ(complaint(arguments), workload + expected + shown) << arguments;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "new.sqlite"));
}

// A file that another one names is looked at in the same way.
TEST_F(WrongInputs, AreNamedWhereAnotherFileNamesThem) {
  write("bad.yaml",
        "name: c\narchitectures: [{file: layer.yaml}]\nworkloads: [layer.yaml]\n"
        "objectives: [edp]\n");
  EXPECT_EQ(complaint("sweep bad.yaml --db new.sqlite"),
            "bad.yaml:2:24: architectures[0].file: layer.yaml: this is a workload, not an "
            "architecture; it is the WORKLOAD of mapsim search and others\n"
            "architectures: [{file: layer.yaml}]\n"
            "                       ^\n");
  write("worse.yaml",
        "name: c\narchitectures: [{file: arch.yaml}]\nworkloads: [arch.yaml]\n"
        "objectives: [edp]\n");
  EXPECT_EQ(complaint("sweep worse.yaml --db new.sqlite"),
            "arch.yaml:13:1: this is an architecture, not a workload; it is the ARCH of mapsim "
            "search and others\n"
            "nodes:\n"
            "^\n");
}

TEST_F(WrongInputs, ThatAreNotThereHaveANearestName) {
  const std::string missing = "cannot be opened: No such file or directory";
  EXPECT_EQ(complaint("search arc.yaml layr.yaml"),
            fmt::format("arc.yaml: {0}; did you mean 'arch.yaml'?\n"
                        "layr.yaml: {0}; did you mean 'layer.yaml'?\n",
                        missing));
  EXPECT_EQ(complaint("search nowhere/arch.yaml layer.yaml"),
            fmt::format("nowhere/arch.yaml: {}\n", missing));
  std::filesystem::create_symlink(source_path("configs"), folder() / "configs");
  EXPECT_EQ(
      complaint("network arch.yaml resnet50.yml"),
      fmt::format("resnet50.yml: {}; did you mean 'configs/networks/resnet50.yaml'?\n", missing));
}

// From a folder without configs/.
TEST_F(WrongInputs, ThatAreNoNamesHaveANearestOne) {
  EXPECT_EQ(complaint("search eyeris resnet50/conv2_3x4"),
            "eyeris: no such file, and an architecture of that name is not shipped; did you mean "
            "'eyeriss'?\n"
            "resnet50/conv2_3x4: no such file, and a workload of that name is not shipped; did you "
            "mean 'resnet50/conv2_3x3'?\n");
  EXPECT_EQ(complaint("search eyeriss conv4_2"),
            "conv4_2: no such file, and a workload of that name is not shipped; did you mean "
            "'vgg16/conv4_2'?\n");
  EXPECT_EQ(
      complaint("search eyeriss quite_something_else"),
      "quite_something_else: no such file, and a workload of that name is not shipped; mapsim "
      "list shows what is\n");
  EXPECT_EQ(complaint("search eyeriss alexnet"),
            "alexnet: no such file; that is the name of a network, and a workload is needed here; "
            "mapsim list shows all\n");
  EXPECT_EQ(complaint("network eyeriss alexnet/conv3"),
            "alexnet/conv3: no such file; that is the name of a workload, and a network is needed "
            "here; mapsim list shows all\n");
  EXPECT_THAT(complaint("search ./eyeriss alexnet/conv3"),  // no name: in this folder
              testing::StartsWith("./eyeriss: cannot be opened: No such file or directory"));
}

TEST_F(WrongInputs, ThatBeginAFewNamesAreGivenThese) {
  EXPECT_EQ(complaint("search a100 gemm/4096"),
            "a100: no such file, and an architecture of that name is not shipped; did you mean "
            "'a100_40gb' or 'a100_80gb'?\n");
  EXPECT_EQ(complaint("search H100 gemm/4096"),
            "H100: no such file, and an architecture of that name is not shipped; did you mean "
            "'h100_pcie' or 'h100_sxm'?\n");
  EXPECT_EQ(complaint("search a100_sxm gemm/4096"),
            "a100_sxm: no such file, and an architecture of that name is not shipped; did you mean "
            "'h100_sxm' or 'a100_40gb' or 'a100_80gb'?\n");
}

TEST_F(WrongInputs, AreWalksThatAreTooLong) {
  EXPECT_EQ(complaint("simulate teaching teaching/conv teaching_weight_stationary --max-steps 100"),
            "mapsim: 'teaching_conv' has 18,432 MACs, a walk of as many steps, less than a minute; "
            "allow it with --max-steps 18432, or take a smaller workload; --trace alone has no "
            "limit\n");
}

// A copy to begin with, whatever the folder.
TEST_F(WrongInputs, CanBeCopiesOfShippedFiles) {
  EXPECT_EQ(shell(fmt::format("'{}' list machines teaching -o mine.yaml", kProgram)), 0);
  EXPECT_THAT(file("stderr"), testing::HasSubstr("this is the shipped file "));
  EXPECT_EQ(shell("diff mine.yaml '" + source_path("configs/arch/teaching.yaml'")), 1);
  EXPECT_THAT(file("stdout"),
              testing::MatchesRegex("2c2\n< # yaml-language-server: [$]schema=/[^\n]*/"
                                    "configs/schema/arch.schema.json\n---\n[^\n]*\n"));
  EXPECT_EQ(shell(fmt::format("'{}' list networks alexnet -o net.yaml", kProgram)), 0);
  EXPECT_THAT(file("net.yaml"), testing::HasSubstr("{workload: alexnet/conv1}"));
  EXPECT_EQ(shell(fmt::format("'{}' network nvdla_like_1024 net.yaml", kProgram)), 0)
      << file("stderr");
  EXPECT_EQ(shell("test -e \"$(sed -n 's/.*[$]schema=//p' mine.yaml)\""), 0);
  EXPECT_EQ(shell(fmt::format("'{}' search mine.yaml teaching/conv", kProgram)), 0);
}

// Names work in campaigns and networks, too.
TEST_F(WrongInputs, AreNotShippedFilesThatOtherFilesName) {
  write("net.yaml", "name: net\nlayers:\n  - {workload: teaching/conv, count: 2}\n");
  write("campaign.yaml",
        "name: c\narchitectures: [{file: teaching}]\nworkloads: [teaching/gemm]\n"
        "networks: [net.yaml]\nconstraints: [even]\n");
  EXPECT_EQ(shell(fmt::format("'{}' network teaching net.yaml", kProgram)), 0);
  EXPECT_EQ(shell(fmt::format("'{}' sweep campaign.yaml --db c.sqlite", kProgram)), 0);
  EXPECT_THAT(file("stdout"), testing::HasSubstr("2 have a mapping"));
  write("campaign.yaml", "name: c\narch: teaching\nnetworks: [net.yaml]\n");
  EXPECT_THAT(complaint("sweep campaign.yaml --db c.sqlite"),
              testing::HasSubstr("unknown key 'arch'; did you mean 'architectures'?"));
  write("campaign.yaml", "name: c\narchitectures: [{file: teachin}]\nworkloads: [teaching/gem]\n");
  const std::string wrong = complaint("sweep campaign.yaml --db c.sqlite");
  EXPECT_THAT(wrong, testing::HasSubstr(
                         "teachin: no such file, and an architecture of that name is not shipped"));
  EXPECT_THAT(wrong, testing::HasSubstr("'teaching/gem': no such file, and a workload"));
}

TEST_F(WrongInputs, OfInlineLayersShowThePlaceInWhatWasWritten) {
  for (const auto& [layer, expected] : std::vector<std::pair<std::string, std::string>>{
           {"--gemm 64x0x64", "gemm:1:4: gemm.n: '0' is too small; at least 1\n64x0x64\n   ^\n"},
           {"--gemm 64x64",
            "gemm:1:1: expected MxNxK, or BxMxNxK for a batch of B: 4096x4096x4096\n64x64\n^\n"},
           {"--conv 64,56,56,64,3,3,strid=2",
            "conv:1:17: conv2d: unknown key 'strid'; did you mean 'stride'?\n"
            "64,56,56,64,3,3,strid=2\n                ^\n"},
           {"--conv 64,56,56,64,3,3,groups=7",
            "conv:1:24: conv2d.groups: 7 groups do not divide 64 in_channels\n"
            "64,56,56,64,3,3,groups=7\n                       ^\n"},
           {"--einsum 'O[m] += A[m][k] * B[j]' --dims m=4,k=4",
            "einsum:1:21: einsum.equation: dim 'j' has no bound in 'dims'\n"
            "O[m] += A[m][k] * B[j]; m=4,k=4\n                    ^\n"},
           {"--einsum 'mk,j->m' --dims m=4,k=4",
            "einsum:1:4: einsum.equation: dim 'j' has no bound in 'dims'\n"
            "mk,j->m; m=4,k=4\n   ^\n"},
           {"--einsum 'O[m] += A[m][k] # B[k]' --dims m=4,k=x",
            "einsum:1:31: einsum.dims.k: 'x' is not a whole number; decimal digits only\n"}}) {
    EXPECT_THAT(complaint("search eyeriss " + layer), testing::StartsWith(expected)) << layer;
  }
}

// Shipped files by name and inline layers, in each place that takes them.
TEST_F(WrongInputs, AreNotNeededForShippedFilesAndInlineLayers) {
  const auto answer = [this](const std::string& arguments) {
    EXPECT_EQ(shell(fmt::format("'{}' {}", kProgram, arguments)), 0) << file("stderr");
    return file("stdout");
  };
  const std::string named = answer("roofline eyeriss resnet50/conv2_3x3");
  EXPECT_EQ(named, answer("roofline " + source_path("configs/arch/eyeriss.yaml") + " " +
                          source_path("configs/workloads/resnet50/conv2_3x3.yaml")));
  const auto after_title = [](const std::string& text) { return text.substr(text.find('\n')); };
  EXPECT_EQ(after_title(answer("roofline eyeriss --conv 64,56,56,64,3,3,padding=same")),
            after_title(named));
  EXPECT_EQ(after_title(answer("roofline eyeriss --gemm 512x512x512")),
            after_title(answer("roofline eyeriss gemm/512")));
  EXPECT_EQ(after_title(answer("roofline eyeriss gemm:512x512x512")),
            after_title(answer("roofline eyeriss --einsum 'Z[M][N] += A[M][K] * B[K][N]' "
                               "--dims M=512,N=512,K=512")));
  EXPECT_THAT(answer("export cuda a100_40gb --gemm 512x512x512 --precision f16"),
              testing::HasSubstr("__global__"));
  answer("search teaching --gemm 8x8x8 --save-mapping best.yaml");
  answer("eval teaching best.yaml --gemm 8x8x8");
  EXPECT_THAT(answer("show teaching best.yaml --gemm 8x8x8"), testing::HasSubstr("<svg"));
  const std::string walked = answer("simulate teaching best.yaml --gemm 8x8x8");
  EXPECT_THAT(walked, testing::HasSubstr("64 of 64 output elements equal"));
  EXPECT_THAT(answer("list layers --names"), testing::HasSubstr("\nresnet50/conv2_3x3\n"));
  EXPECT_THAT(answer("list"),
              testing::AllOf(testing::HasSubstr("machines:\n"), testing::HasSubstr("  eyeriss  "),
                             testing::HasSubstr("168 MAC units; DRAM, GLB, spad")));
}

TEST_F(WrongInputs, AreNotOfferedByCompletionsForBash) {
  ASSERT_EQ(shell(fmt::format("'{}' --completion | tee complete.sh", kProgram)), 0);
  write("ask.sh",
        "source complete.sh\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n_mapsim\n"
        "echo \"${COMPREPLY[@]}\"\n");
  for (const auto& [words, expected] : std::vector<std::pair<std::string, std::string>>{
           {"rep", "report\n"},
           {"search eyeriss_c", "eyeriss_chip\n"},
           {"search eyeriss alexnet/conv3", "alexnet/conv3\n"},
           {"search eyeriss attention_1", "attention_1024\n"},
           {"plan eyeriss_c", "eyeriss_chip\n"},
           {"design teaching_buffers graphs/vi", "graphs/vit_b16\n"},
           {"search eyeriss lay", "layer.yaml\n"},
           {"search --obj", "--objective\n"},
           {"search --strategy ex", "exact exhaustive\n"},
           {"search ey", "eyeriss eyeriss_chip eyeriss_v2_pe\n"},  // no layers of eyeriss/
           {"search eyeriss --objective ed", "edp\n"},             // no machine edge
           {"search eyeriss --objective = e", "energy edp energy,latency\n"},
           {"search --objective edp eyeriss_c", "eyeriss_chip\n"},
           {"search --gap 1% eyeriss alexnet/conv3", "alexnet/conv3\n"},
           {"search --even eyeriss_c", "eyeriss_chip\n"},
           {"search eyeriss --constraints row", "row_stationary\n"},
           {"search h200 --precision b", "bf16\n"},
           {"export cu", "cuda\n"},
           {"export cuda a100_4", "a100_40gb\n"},
           {"import timeloop --co", "--counts-only\n"},
           {"import zigzag --co", "\n"},
           {"import --co", "--counts-only\n"},
           {"eval teaching teaching/conv teaching_w", "teaching_weight_stationary\n"},
           {"search eyeriss --svg lay", "layer.yaml\n"},
           {"search --threads = 4 eyeriss_c", "eyeriss_chip\n"},
           {"list machines eyeriss_c", "eyeriss_chip\n"},
           {"list mac", "machines\n"}}) {
    EXPECT_EQ(shell(fmt::format("bash ask.sh '{}' {}", kProgram, words)), 0);
    EXPECT_EQ(file("stdout"), expected) << words << file("stderr");
  }
}

}  // namespace
}  // namespace mapsim::inputs_test
