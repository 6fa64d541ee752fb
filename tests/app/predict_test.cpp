// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::predict_test {
namespace {

class PredictCommand : public InFolder {
 protected:
  int run(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", kProgram, arguments));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder() / name} << text;
  }
  std::string printed() const { return file("stdout"); }
};

constexpr const char* kTable =
    "m,n,k,latency_us\n16,4096,4096,26\n256,4096,4096,50\n4096,4096,4096,640\n";

TEST_F(PredictCommand, ScoresATableAsItIs) {
  write("table.csv", kTable);
  ASSERT_EQ(run("predict table.csv --arch a100_80gb --precision bf16"), 0) << file("stderr");
  EXPECT_TRUE(printed().starts_with(
      "a100_80gb on 3 measurements of a100_80gb; nothing is fitted\n"
      "cache: 3 rows do not say whether the L2 held the operands; 0 of them are faster than DRAM "
      "can deliver A and B, so all are taken as cold\n"))
      << printed();
  EXPECT_NE(printed().find("bf16, library: 3 rows of 3 problems\n  calibrated on "),
            std::string::npos);
  for (const char* shapes : {"min(M, N) <= 16 ", "min(M, N) > 128 ", "all "}) {
    EXPECT_NE(printed().find(shapes), std::string::npos) << shapes;
  }
  // The same rows as measurements.
  ASSERT_EQ(run("import gpu-table table.csv --gpu a100_80gb --precision bf16 -o all.csv"), 0);
  const std::string direct = printed();
  ASSERT_EQ(run("predict table.csv --arch a100_80gb --precision bf16"), 0);
  const std::string of_table = printed();
  ASSERT_EQ(run("predict all.csv --arch a100_80gb"), 0);
  EXPECT_EQ(printed(), of_table);
}

// The file that --help shows is one, and so are those of the document.
TEST_F(PredictCommand, ReadsTheExamplesOfItsHelpAndOfTheDocument) {
  const auto tables_in = [](const std::string& text) {
    std::vector<std::string> tables;
    std::istringstream lines{text};
    bool within = false;
    for (std::string line; std::getline(lines, line);) {
      line.erase(0, line.find_first_not_of(' '));
      if (line == "# mapsim measurements 1") {
        tables.emplace_back();
        within = true;
      } else if (line.find(',') == std::string::npos || line.find(' ') != std::string::npos) {
        within = false;
      }
      if (within) {
        tables.back() += line + "\n";
      }
    }
    return tables;
  };
  ASSERT_EQ(run("predict --help"), 0);
  std::vector<std::string> tables = tables_in(printed());
  ASSERT_EQ(tables.size(), 1U);
  const std::vector<std::string> documented =
      tables_in(contents(source_path("docs/gpu_calibration.md")));
  ASSERT_EQ(documented.size(), 2U);
  EXPECT_EQ(documented.front(), tables.front());
  tables.push_back(documented.back());
  for (const std::string& table : tables) {
    write("measurements.csv", table);
    EXPECT_EQ(run("predict measurements.csv --arch h100_sxm"), 0) << file("stderr") << table;
    EXPECT_NE(printed().find(": 1 rows of 1 problems"), std::string::npos) << printed();
  }
}

TEST_F(PredictCommand, TakesTheCacheThatIsSaid) {
  write("table.csv", kTable);
  const auto total = [this] { return printed().substr(printed().find("  all")); };
  ASSERT_EQ(run("predict table.csv --arch a100_80gb --precision bf16 --cache cold"), 0);
  EXPECT_NE(
      printed().find(
          "cache: 0 rows say that the L2 held the operands (hot), 3 that it did not (cold)\n"),
      std::string::npos);
  const std::string cold = total();
  ASSERT_EQ(run("predict table.csv --arch a100_80gb --precision bf16 --cache hot"), 0);
  EXPECT_NE(
      printed().find(
          "cache: 3 rows say that the L2 held the operands (hot), 0 that it did not (cold)\n"),
      std::string::npos);
  EXPECT_NE(total(), cold);
  ASSERT_EQ(run("import gpu-table table.csv --gpu a100_80gb --precision bf16 --cache hot -o h.csv"),
            0);
  EXPECT_NE(file("h.csv").find(",hot,"), std::string::npos);
}

TEST_F(PredictCommand, RanksTheKernelsOfASingleProblem) {
  write("table.csv",
        "MWG,NWG,MDIMC,NDIMC,SA,SB,time_ms\n64,64,16,8,1,1,12\n32,32,8,8,1,1,20\n"
        "128,64,16,16,1,1,11\n16,16,8,8,1,1,45\n");
  ASSERT_EQ(run("predict table.csv --arch rtx3090 --precision f32 --problem 4096x4096x4096 --json"),
            0)
      << file("stderr");
  const auto json = nlohmann::ordered_json::parse(printed());
  EXPECT_EQ(json["command"], "predict");
  EXPECT_EQ(json["cache"]["unsaid_taken_as"], "cold");
  const auto& group = json["groups"].at(0);
  EXPECT_EQ(group["rows"], 4);
  EXPECT_EQ(group["all"]["ranks"]["problems"], 1);
  EXPECT_GT(group["all"]["ranks"]["tau"], 0.3);
  EXPECT_GE(group["random"]["top1_regret"], group["all"]["ranks"]["top1_regret"]);
}

TEST_F(PredictCommand, SaysWhatItCannot) {
  write("table.csv", kTable);
  EXPECT_EQ(run("predict table.csv --arch a100_80gb"), 2);
  EXPECT_NE(file("stderr").find("use --precision NAME"), std::string::npos);
  write("names.csv", "gpu,m,n,k,latency_us\nA100-80GB,8,8,8,1\nA100 80 GB,8,8,9,1\nB,8,8,8,1\n");
  EXPECT_EQ(run("predict names.csv --arch a100_80gb --precision bf16"), 0);
  EXPECT_TRUE(printed().starts_with("a100_80gb on 2 measurements of A100-80GB;"));
  EXPECT_EQ(file("stderr").find("and predicted are"), std::string::npos);
  write("other.csv", "gpu,m,n,k,latency_us\nRTX,8,8,8,1\n");
  EXPECT_EQ(run("predict other.csv --arch a100_80gb --precision bf16"), 0);
  EXPECT_NE(
      (printed() + file("stderr")).find("rows are of 'RTX', but the predicted times are those of "),
      std::string::npos)
      << printed() << file("stderr");
  write("two.csv", "gpu,m,n,k,latency_us\nA,8,8,8,1\nB,8,8,8,1\n");
  EXPECT_EQ(run("predict two.csv --arch a100_80gb --precision bf16"), 2);
  EXPECT_NE(file("stderr").find("there are those of 'A', 'B': use --gpu"), std::string::npos);
  EXPECT_EQ(run("predict two.csv --arch a100_80gb --precision bf16 --gpu b"), 0);
  EXPECT_NE(printed().find("a100_80gb on 1 measurements of B"), std::string::npos);
  EXPECT_EQ(run("predict two.csv --arch a100_80gb --precision bf16 --gpu b --cache warm"), 2);
}

}  // namespace
}  // namespace mapsim::predict_test
