// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::calibrate_test {
namespace {

namespace fs = std::filesystem;

const std::string kA100 = source_path("configs/arch/a100_80gb.yaml");

class CalibrateCommand : public InFolder {
 protected:
  CalibrateCommand() {
    // A machine of 200 Tflop/s at best, whose kernels take 9 us more.
    std::ofstream table{folder() / "table.csv"};
    table << "m,n,k,latency_us\n";
    for (const double m : {64, 256, 1024, 4096}) {
      for (const double k : {256, 1024, 4096, 8192}) {
        table << fmt::format("{},4096,{},{}\n", m, k, 20 + 2 * m * 4096 * k / 150e6);
      }
    }
  }
  int run(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", kProgram, arguments));
  }
};

TEST_F(CalibrateCommand, TakesATableToACalibratedArchitecture) {
  ASSERT_EQ(run("import gpu-table table.csv --gpu a100_80gb --precision bf16 -o all.csv"), 0);
  EXPECT_EQ(
      file("stdout"),
      "table.csv: 16 measurements (plain table) added to all.csv\n"
      "note: 16 measurements do not say whether the L2 cache held the operands; calibrate and "
      "predict tell by the times, or --cache says it\n");
  ASSERT_EQ(run(fmt::format("calibrate all.csv --arch {} --save-arch own.yaml", kA100)), 0)
      << file("stdout") << file("stderr");
  EXPECT_NE(
      file("stdout").find("cache: 16 rows do not say whether the L2 held the operands; 0 of them"),
      std::string::npos);
  EXPECT_NE(file("stdout").find("bf16, kernels of a library: 16 rows of 16 problems"),
            std::string::npos);
  EXPECT_NE(file("stdout").find("roofline"), std::string::npos);
  const std::string own = file("own.yaml");
  // With all that its author wrote, but another calibration and nothing of where the old one is
  // from.
  std::string author = contents(kA100);
  author.erase(author.find("  calibration:"));
  const std::size_t said = author.find("# Calibrated by ");
  ASSERT_NE(said, std::string::npos);
  author.erase(said, author.find("name: ") - said);
  EXPECT_TRUE(own.starts_with(author));
  EXPECT_NE(own.find("    # not determined, left uncalibrated: "), std::string::npos);
  EXPECT_NE(own.find("    # resolution: the default\n"), std::string::npos);
  EXPECT_NE(own.find("      longest: "), std::string::npos);
  EXPECT_NE(own.find("    - precision: bf16\n"), std::string::npos);
  EXPECT_NE(own.find("fitted_from: \"all.csv\""), std::string::npos);
  // Again, on what is calibrated already: the block is replaced.
  ASSERT_EQ(run("calibrate all.csv --arch own.yaml --save-arch twice.yaml") | 1, 1);
  if (const std::string twice = file("twice.yaml"); !twice.empty()) {
    EXPECT_EQ(twice.find("calibration:"), twice.rfind("calibration:"));
  }
  EXPECT_EQ(
      run(fmt::format("search own.yaml {}/configs/workloads/gemm/4096.yaml --top 2", kSource)), 0)
      << file("stderr");
}

TEST_F(CalibrateCommand, WritesJson) {
  ASSERT_EQ(run("import gpu-table table.csv --gpu a100_80gb --precision bf16 -o all.csv"), 0);
  ASSERT_EQ(run(fmt::format("calibrate all.csv --arch {} --json --out result.json", kA100)), 0)
      << file("stderr");
  const auto json = nlohmann::ordered_json::parse(file("result.json"));
  EXPECT_EQ(json["command"], "calibrate");
  EXPECT_EQ(json["cache"]["unsaid_taken_as"], "cold");
  ASSERT_EQ(json["groups"].size(), 1U);
  const auto& group = json["groups"][0];
  EXPECT_EQ(group["problems"], 16);
  EXPECT_EQ(group["scores"][0]["name"], "calibrated");
  EXPECT_LT(group["scores"][0]["errors"]["mape"], group["scores"][2]["errors"]["mape"]);
  EXPECT_EQ(group["parameters"].size(), 14U);
}

// Tables from before convolutions had fewer columns: their rows stay what they are.
TEST_F(CalibrateCommand, AddsColumnsToOlderMeasurements) {
  const std::string import = "import gpu-table table.csv --gpu x --precision f16 -o all.csv";
  ASSERT_EQ(run(import), 0);
  std::string old;
  for (std::istringstream lines{file("all.csv")}; std::getline(lines, old);) {
    if (old.starts_with("gpu,")) {
      old.resize(old.find(",time_min_s"));
    } else if (!old.starts_with("#")) {
      old.resize(old.size() - 14);  // nothing in any of the fourteen columns
    }
    std::ofstream{folder() / "old.csv", std::ios::app} << old << "\n";
  }
  ASSERT_EQ(run("import gpu-table table.csv --gpu x --precision f16 -o old.csv"), 0)
      << file("stderr");
  ASSERT_EQ(run(import), 0);
  EXPECT_EQ(file("old.csv"), file("all.csv"));
}

TEST_F(CalibrateCommand, OnlyAddsToMeasurements) {
  const std::string import = "import gpu-table table.csv --gpu x --precision f16 -o all.csv";
  ASSERT_EQ(run(import), 0);
  const std::string first = file("all.csv");
  ASSERT_EQ(run(import), 0);
  EXPECT_EQ(file("all.csv"), first);  // the same rows once only
  EXPECT_NE(file("stdout").find("note: 16 measurements were there already"), std::string::npos);
  ASSERT_EQ(run("import gpu-table table.csv --gpu y --precision f16 -o all.csv"), 0);
  EXPECT_TRUE(file("all.csv").starts_with(first));
  EXPECT_GT(file("all.csv").size(), first.size());
  EXPECT_EQ(run("import gpu-table table.csv --gpu x --precision f16 -o table.csv"), 2);
}

TEST_F(CalibrateCommand, SaysWhatIsWrong) {
  ASSERT_EQ(run("import gpu-table table.csv --gpu a100 --precision bf16 -o all.csv"), 0);
  EXPECT_EQ(run(fmt::format("calibrate all.csv --arch {}", kA100)), 2);
  EXPECT_EQ(file("stderr"),
            "mapsim: all.csv: no measurements of 'a100_80gb'; there are those of 'a100': use "
            "--gpu\n");
  EXPECT_EQ(run("import gpu-table table.csv --gpu a --precision bf61 -o b.csv"), 2);
  EXPECT_EQ(file("stderr"), "mapsim: --precision: no precision 'bf61'; did you mean 'bf16'?\n");
  EXPECT_EQ(run("import gpu-table table.csv --gpu a --precision f16 --problem 1x2 -o b.csv"), 2);
  EXPECT_EQ(run(fmt::format("calibrate all.csv --arch {0} --gpu a100 --save-arch all.csv", kA100)),
            2);
  EXPECT_FALSE(fs::exists(folder() / "b.csv"));
  // Two problems cannot be held out in five folds: nothing to write, and the exit code says so.
  std::ofstream{folder() / "few.csv"} << "m,n,k,latency_us\n64,64,64,5\n128,64,64,5\n";
  ASSERT_EQ(run("import gpu-table few.csv --gpu a100 --precision bf16 -o two.csv"), 0);
  EXPECT_EQ(run(fmt::format("calibrate two.csv --arch {} --gpu a100 --save-arch c.yaml", kA100)),
            1);
  EXPECT_NE(file("stdout").find("refused: 2 problems are too few"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder() / "c.yaml"));
}

}  // namespace
}  // namespace mapsim::calibrate_test
