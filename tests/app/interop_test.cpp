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
  EXPECT_EQ(run("import scalesim bad.yaml -o out"), 2);
  EXPECT_EQ(contents(folder() / "stderr"), "mapsim: FORMAT: no format 'scalesim'; only timeloop\n");
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
