// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mapsim {
namespace {

namespace fs = std::filesystem;

const std::string kDesign =
    MAPSIM_SOURCE_DIR "/tests/golden/timeloop/t257_pe8x1_rf__gemm_100_imperfect.yaml";

std::string contents(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class Interop : public ::testing::Test {
 protected:
  Interop() {
    std::string pattern = (fs::temp_directory_path() / "mapsim_interop_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Interop() override { fs::remove_all(folder_); }

  int run(const std::string& arguments) const {
    const std::string command = fmt::format("cd '{}' && '{}' {} >stdout 2>stderr", folder_.string(),
                                            MAPSIM_PROGRAM, arguments);
    return WEXITSTATUS(std::system(command.c_str()));
  }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

TEST_F(Interop, ImportsEvaluatesAndExportsTheSameMapping) {
  ASSERT_EQ(run(fmt::format("import timeloop {} -o in", kDesign)), 0);
  ASSERT_EQ(run("eval in/arch.yaml in/workload.yaml in/mapping.yaml --json"), 0);
  ASSERT_EQ(run("export timeloop in/arch.yaml in/workload.yaml in/mapping.yaml -o map.yaml"), 0);
  // The written mapping in place of the design's own makes the same mapping again.
  const std::string design = contents(kDesign);
  const std::string map = contents(folder() / "map.yaml");
  std::ofstream{folder() / "again.yaml"} << design.substr(0, design.find("mapping:")) << map;
  ASSERT_EQ(run("import timeloop again.yaml -o again"), 0);
  EXPECT_EQ(contents(folder() / "again/mapping.yaml"), contents(folder() / "in/mapping.yaml"));
  EXPECT_NE(contents(folder() / "in/mapping.yaml"), "");
}

TEST_F(Interop, WritesNothingOfABadDesign) {
  const std::string design = contents(kDesign);
  std::ofstream{folder() / "bad.yaml"} << design.substr(0, design.find("ERT:"));
  EXPECT_EQ(run("import timeloop bad.yaml -o out"), 2);
  EXPECT_FALSE(fs::exists(folder() / "out"));
  EXPECT_EQ(run("import scaleslim bad.yaml -o out"), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "mapsim: FORMAT: no format 'scaleslim'; did you mean 'scalesim'?\n");
}

TEST_F(Interop, ImportsScaleSimReadyToEvaluateAndToSearch) {
  std::ofstream{folder() / "small.cfg"}
      << "[general]\nrun_name = small\n[architecture_presets]\nArrayHeight: 8\nArrayWidth: 4\n"
         "IfmapSramSzkB: 4\nFilterSramSzkB: 4\nOfmapSramSzkB: 4\nDataflow: ws\n";
  std::ofstream{folder() / "net.csv"}
      << "Layer, IFMAP H, IFMAP W, Filter H, Filter W, Channels, Filters, Strides,\n"
         "first, 10, 10, 3, 3, 4, 8, 1,\nDP second, 10, 10, 3, 3, 4, 1, 2,\nfirst, 6, 6, 1, 1, 4, "
         "8, 1,\n";
  ASSERT_EQ(run("import scalesim small.cfg net.csv -o net"), 0) << contents(folder() / "stderr");
  EXPECT_NE(contents(folder() / "stdout")
                .find("note: DP_second: SCALE-Sim rounds the output up to "
                      "25 pixels; 16 have a whole window\n"),
            std::string::npos);
  for (const char* layer : {"first", "DP_second", "first_2"}) {
    ASSERT_EQ(run(fmt::format("eval net/arch.yaml net/{0}.gemm.yaml net/{0}.mapping.yaml", layer)),
              0)
        << contents(folder() / "stderr");
    ASSERT_EQ(run(fmt::format("search net/arch.yaml net/{}.workload.yaml", layer)), 0)
        << contents(folder() / "stderr");
  }
  // F = ceil(36 / 8) ceil(8 / 4) folds of T + 2 R + C - 2 = 64 + 16 + 4 - 2 cycles.
  const std::string table = contents(folder() / "net/scalesim.csv");
  EXPECT_NE(table.find("\nfirst,1,10,819,"), std::string::npos) << table;
  EXPECT_NE(table.find(",820,820,"), std::string::npos) << table;
}

TEST_F(Interop, TellsWhatIsWrongWithScaleSimsFiles) {
  std::ofstream{folder() / "bad.cfg"} << "[architecture_presets]\nArrayHeight: 0\nArrayWidth: 4\n"
                                         "IfmapSramSzkB: 4\nFilterSramSzkB: 4\nDataflow: rs\n";
  std::ofstream{folder() / "bad.csv"} << "Layer, M, N, K,\na, 1, x, 3,\nb, 1, 2,\n";
  EXPECT_EQ(run("import scalesim bad.cfg bad.csv -o out"), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "bad.cfg: 'OfmapSramSzkB' is missing\n"
            "bad.cfg:2:14: ArrayHeight is '0', not a whole number from 1 to 1000000\n"
            "ArrayHeight: 0\n             ^\n"
            "bad.cfg:6:11: unknown word 'rs'; did you mean 'os'?\nDataflow: rs\n          ^\n");
  std::ofstream{folder() / "good.cfg"}
      << "ArrayHeight: 4\nArrayWidth: 4\nIfmapSramSzkB: 4\nFilterSramSzkB: 4\n"
         "OfmapSramSzkB: 4\nDataflow: os\n";
  EXPECT_EQ(run("import scalesim good.cfg bad.csv -o out"), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "bad.csv:2:7: N is 'x', not a whole number from 1 to 1000000\na, 1, x, 3,\n      ^\n"
            "bad.csv:3:1: a row is a name, then M, N, K, or 7 numbers of a convolution; this one "
            "has 3 cells\nb, 1, 2,\n^\n");
}

TEST_F(Interop, RefusesToExportAnUnevenMapping) {
  ASSERT_EQ(run(fmt::format("import timeloop {} -o in", kDesign)), 0);
  std::ofstream{folder() / "uneven.yaml"}
      << "mapping:\n  - keep DRAM: [Weights, Inputs, Outputs]\n  - keep GLB: [Inputs]\n"
         "  - for M: 1\n  - keep GLB: [Weights]\n  - for N: 1\n  - for K: 1\n";
  EXPECT_EQ(run("export timeloop in/arch.yaml in/workload.yaml uneven.yaml -o map.yaml"), 2);
  EXPECT_EQ(
      contents(folder() / "stderr"),
      "mapsim: Timeloop has no word for tensors that GLB keeps at different points (an uneven "
      "mapping)\n");
  EXPECT_FALSE(fs::exists(folder() / "map.yaml"));
}

}  // namespace
}  // namespace mapsim
