// SPDX-License-Identifier: Apache-2.0
#include "core/file_kind.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace mapsim::file_kind_test {
namespace {

std::optional<FileKind> kind(std::string_view text) {
  const auto found = recognise(text);
  return found ? std::optional{found->kind} : std::nullopt;
}

TEST(Recognise, TellsEveryKindByItsSign) {
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, FileKind>> signs{
      {"name: a\nnodes:\n  - x\n", FileKind::kArch},
      {"name: a\ngpu: {sm: 80}\n", FileKind::kArch},
      {"name: a\nconv2d: {}\n", FileKind::kWorkload},
      {"name: a\ngemm: {}\n", FileKind::kWorkload},
      {"name: a\nbatched_gemm: {}\n", FileKind::kWorkload},
      {"name: a\neinsum: {}\n", FileKind::kWorkload},
      {"form: merged 2\nmapping:\n", FileKind::kMapping},
      {"kernel: {block: [1, 2, 3]}\n", FileKind::kKernel},
      {"mapspace: {tiling: even}\n", FileKind::kConstraints},
      {"name: a\nlayers:\n", FileKind::kNetwork},
      {"name: a\nchain:\n", FileKind::kChain},
      {"name: a\narchitectures: []\n", FileKind::kCampaign},
      {"certificate: 1\nmapping:\narchitecture:\n", FileKind::kCertificate},
      {"{\n  \"schema\": 1,\n  \"tool\": {\n    \"name\": \"mapsim\",\n", FileKind::kResult},
      {"SQLite format 3\0..."s, FileKind::kDatabase},
      {"# mapsim measurements 1\ngpu,m\n", FileKind::kMeasurements},
      {"# a design\r\narchitecture:\r\n  version: 0.4\r\n", FileKind::kTimeloop},
      {"problem: {}\n", FileKind::kTimeloop},
      {"ERT:\n  version: 0.4\n", FileKind::kAccelergy},
      {"{% set N = 1 %}\narch:\n  nodes:\n  - !Memory\n", FileKind::kAccelForge},
      {"arch:\n  nodes:\n  - !Component\n", FileKind::kTimeloop},
      {"workload:\n  einsums:\n", FileKind::kAccelForge},
      {"name: a\noperational_array:\n", FileKind::kZigzag},
      {"\x08\x07\x12\x04onnx", FileKind::kOnnx},
      {"[general]\nrun_name = a\n", FileKind::kScaleSim},
      {"Layer name, IFMAP Height,\n", FileKind::kTopology}};
  for (const auto& [text, expected] : signs) {
    EXPECT_EQ(kind(text), expected) << text;
  }
}

TEST(Recognise, KnowsNothingOfWhatHasNoSign) {
  for (const char* const text :
       {"", "name: a\n", "  nodes:\n", "# nodes:\n", "nodes\n", "nodes:x\n", "{nodes: []}",
        "{\"results\": []}", "a,b\nLayer name,\n", "\n# mapsim measurements 1\n"}) {
    EXPECT_EQ(kind(text), std::nullopt) << text;
  }
}

TEST(WrongKind, NamesWhatTheFileIsAndWhatReadsIt) {
  const auto wrong =
      wrong_kind("a.yaml", "# text\nname: a\ncertificate: 1\nmapping:\n", {FileKind::kArch});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(to_string(*wrong),
            "a.yaml:3:1: this is a certificate, not an architecture; mapsim check reads it\n"
            "certificate: 1\n"
            "^");
  EXPECT_EQ(
      to_string(wrong_kind("a.yaml", "arch:\n  nodes:\n  - !Memory\n", {FileKind::kArch}).value()),
      "a.yaml:1:1: this is an AccelForge file, not an architecture; mapsim import accelforge reads "
      "it\n"
      "arch:\n"
      "^");
  EXPECT_EQ(
      to_string(wrong_kind("m", "\x08\x07\x12", {FileKind::kWorkload}).value()),
      "m: this is an ONNX model, not a workload; mapsim network reads it where its name ends in "
      ".onnx");
}

// One key of the right kind is enough, whatever stands beside it.
TEST(WrongKind, IsSilentOnWhatMayBeRight) {
  EXPECT_FALSE(wrong_kind("a", "mapping:\nnodes:\n", {FileKind::kArch}));
  EXPECT_FALSE(wrong_kind("a", "unknown:\n", {FileKind::kArch}));
  EXPECT_FALSE(wrong_kind("a", "layers:\n", {FileKind::kOnnx, FileKind::kNetwork}));
  for (const FileKind either : {FileKind::kTimeloop, FileKind::kAccelForge}) {
    EXPECT_FALSE(wrong_kind("a", "arch: {nodes: []}\n", {either}));
    EXPECT_FALSE(wrong_kind("a", "mapper:\n", {either}));
  }
  EXPECT_TRUE(wrong_kind("a", "arch:\n  nodes:\n  - !Memory\n", {FileKind::kTimeloop}));
  EXPECT_TRUE(wrong_kind("a", "architecture:\n", {FileKind::kAccelForge}));
}

TEST(CheckedFile, NamesTheNearestFile) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path{testing::TempDir()} / "mapsim_nearest";
  fs::create_directories(folder / "shipped/deep");
  for (const char* name : {"eyeriss.yaml", "tpu.yaml", "shipped/deep/conv3_2.yaml"}) {
    std::ofstream{folder / name} << "nodes: []\n";
  }
  const auto complaint = [&folder](const std::string& name) {
    try {
      beginning_of((folder / name).string(), {(folder / "shipped").string()});
    } catch (const ConfigError& error) {
      return std::string{error.what()}.substr(folder.string().size() + 1);
    }
    return std::string{};
  };
  const std::string missing = "cannot be opened: No such file or directory";
  EXPECT_EQ(complaint("eyeris.yaml"), "eyeris.yaml: " + missing + "; did you mean '" +
                                          (folder / "eyeriss.yaml").string() + "'?");
  EXPECT_EQ(complaint("conv3_2"), "conv3_2: " + missing + "; did you mean '" +
                                      (folder / "shipped/deep/conv3_2.yaml").string() + "'?");
  EXPECT_EQ(complaint("nothing_like_it.yaml"), "nothing_like_it.yaml: " + missing);
  EXPECT_EQ(complaint("tpu.yaml"), "");
  EXPECT_THROW(checked_file((folder / "tpu.yaml").string(), {FileKind::kWorkload}), ConfigError);
  EXPECT_EQ(checked_file("/dev/null", {FileKind::kWorkload}), "/dev/null");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace mapsim::file_kind_test
