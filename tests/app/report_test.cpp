// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::report_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kConfigs = source_path("configs/");

class ReportCommand : public InFolder {
 protected:
  ReportCommand() {
    std::ofstream{folder() / "gemm.yaml"} << "name: tiny\ngemm: {m: 4, n: 4, k: 8}\n";
    std::ofstream{folder() / "campaign.yaml"}
        << "name: buffers\narchitectures:\n  - file: " << kConfigs << "arch/teaching.yaml\n"
        << "    grid: {nodes.Buffer.capacity: [1 KiB, 2 KiB], nodes.PEs.x: [2, 4]}\n"
        << "workloads: [gemm.yaml]\n";
  }
  int run(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", kProgram, arguments));
  }
};

TEST_F(ReportCommand, OfADatabaseIsAPageAndItsFigures) {
  ASSERT_EQ(run("sweep campaign.yaml --db r.sqlite --threads 1"), 0) << file("stderr");
  ASSERT_EQ(run("report r.sqlite -o r.html --figures figures"), 0) << file("stderr");
  EXPECT_THAT(file("r.html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(file("r.html"), HasSubstr("Of 4 designs the best is"));
  std::size_t figures = 0;
  for (const auto& entry : fs::directory_iterator{folder() / "figures"}) {
    const std::string text = contents(entry.path());
    const bool svg = entry.path().extension() == ".svg";
    EXPECT_TRUE(svg ? text.starts_with("<svg xmlns") : text.find(",") != std::string::npos);
    EXPECT_TRUE(!svg || file("r.html").find(text) != std::string::npos) << entry.path();
    figures += svg ? 1U : 0U;
  }
  EXPECT_EQ(figures, 5U);
  EXPECT_THAT(file("r.html"), HasSubstr("<figure class=\"stepper\""));
  EXPECT_THAT(file("r.html"), HasSubstr("What one setting is worth: design "));
  // Another database of the same campaign, made in another order, gives the same page.
  ASSERT_EQ(run("sweep campaign.yaml --db s.sqlite --shard 2/2"), 0) << file("stdout");
  ASSERT_EQ(run("sweep campaign.yaml --db s.sqlite --threads 2"), 0);
  fs::create_directory(folder() / "other");
  fs::rename(folder() / "s.sqlite", folder() / "other/r.sqlite");
  ASSERT_EQ(run("report other/r.sqlite -o s.html"), 0);
  EXPECT_EQ(file("r.html"), file("s.html"));
}

TEST_F(ReportCommand, OfTheBestDesignsIsAFrontAndTheirSteps) {
  ASSERT_EQ(run("design campaign.yaml --objective edp --pareto area --svg own.svg --json "
                "-o front.json"),
            0)
      << file("stderr");
  ASSERT_EQ(run("report front.json -o r.html --figures figures"), 0) << file("stderr");
  const auto json = nlohmann::json::parse(file("front.json"));
  const std::size_t points = json["answers"].size();
  ASSERT_GT(points, 1U);
  const std::string csv = contents(folder() / "figures/buffers-front.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(points) + 1);
  EXPECT_THAT(csv, HasSubstr(fmt::format(",{},", json["answers"][0]["area_mm2"].get<double>())));
  // The command draws the figure that the page has.
  const std::string figure = contents(folder() / "figures/buffers-front.svg");
  const auto dots = [](const std::string& svg) {
    const std::size_t at = svg.find("<g class=\"marks\"");
    return svg.substr(at, svg.rfind("</g>") - at);
  };
  EXPECT_EQ(dots(file("own.svg")), dots(figure));
  for (const auto& answer : json["answers"]) {  // as in the table, so that both light up together
    EXPECT_THAT(figure, HasSubstr(fmt::format("<title>{}: {}, ", answer["design"].get<int>(),
                                              answer["arch"].get<std::string>())));
  }
  EXPECT_THAT(figure, HasSubstr("proven: no other of the 4 designs is better"));
  EXPECT_THAT(file("r.html"), HasSubstr("Proven: no other of the 4 designs is better. Of them: "));
  const std::string steps = contents(folder() / "figures/buffers-steps.csv");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'),
            static_cast<std::ptrdiff_t>(json["steps"].size()) + 1);
}

TEST_F(ReportCommand, OfADatabaseThatDesignWrote) {
  ASSERT_EQ(run("design campaign.yaml --db d.sqlite"), 0) << file("stderr");
  ASSERT_EQ(run("report d.sqlite -o r.html"), 0) << file("stderr");
  EXPECT_THAT(file("r.html"), HasSubstr("designs of the campaign have no results here"));
  ASSERT_EQ(run("design campaign.yaml --db d.sqlite"), 0);
  EXPECT_THAT(file("stdout"), HasSubstr("searches of layers: 0, 0.0 % of the 4 "));
  EXPECT_THAT(file("stdout"), HasSubstr("answers from the database: "));
  for (const auto& [arguments, error] :
       {std::pair{"design campaign.yaml gemm.yaml --db d.sqlite",
                  "--db: a database has results for the layers that campaign.yaml names; name "
                  "gemm.yaml in"},
        {"design campaign.yaml --objective edp --db d.sqlite",
         "--db: campaign.yaml asks for energy; add edp to its objectives"},
        {"design campaign.yaml --db campaign.yaml", "campaign.yaml: "},
        {"design campaign.yaml --db d.sqlite --certificate p", "--certificate"}}) {
    EXPECT_EQ(run(arguments), 2) << arguments;
    EXPECT_THAT(file("stderr"), HasSubstr(error)) << arguments;
  }
}

// A limit that no design keeps, and an objective that is no function.
TEST_F(ReportCommand, OfNoDesignSaysSo) {
  ASSERT_EQ(run("design campaign.yaml --max-area 0.001mm2 --svg none.svg --json -o none.json"), 1);
  EXPECT_THAT(file("none.svg"), StartsWith("<svg"));
  ASSERT_EQ(run("report none.json"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("No design can be used: 4 excluded by their area."));
  std::string text = file("none.json");
  text.replace(text.find("\"objective\": \"energy\""), 21, "\"objective\": \"enrgy\"");
  std::ofstream{folder() / "bad.json"} << text;
  EXPECT_EQ(run("report bad.json"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("bad.json: objective: "));
}

TEST_F(ReportCommand, OfWhatJsonPrints) {
  const std::string problem = kConfigs + "arch/teaching.yaml gemm.yaml --json";
  ASSERT_EQ(run("search " + problem + " --out search.json"), 0);
  ASSERT_EQ(run("search " + problem + " --pareto --out front.json"), 0);
  ASSERT_EQ(run("histogram " + kConfigs + "arch/teaching.yaml " + kConfigs +
                "workloads/teaching/conv.yaml --json --mappings 50 --out histogram.json"),
            0);
  std::ofstream{folder() / "net.yaml"} << "name: pair\nlayers:\n  - {name: a, workload: "
                                          "gemm.yaml, count: 2}\n";
  ASSERT_EQ(run("network " + kConfigs + "arch/teaching.yaml net.yaml --json --out network.json"), 0)
      << file("stderr");
  ASSERT_EQ(run("report search.json front.json histogram.json network.json --title Own"), 0)
      << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("<h1>Own</h1>"));
  EXPECT_THAT(file("stdout"), HasSubstr("<b>Figure 6.</b>"));
}

// Figures of a layer on a machine whose level has a long name: in bounded memory, and a picture of
// the histogram that has the optimum on its axis.
TEST_F(ReportCommand, EndsWhateverLevelsAreCalled) {
  std::string machine = contents(kConfigs + "arch/teaching.yaml");
  for (std::size_t at = 0; (at = machine.find("DRAM", at)) != std::string::npos; at += 64) {
    machine.replace(at, 4, "DRAM" + std::string(60, 'x'));
  }
  write("long.yaml", machine);
  write("net.yaml",
        "name: pair\nlayers:\n  - {name: a, workload: gemm.yaml, count: 2}\n"
        "  - {name: b, workload: gemm.yaml}\n");
  ASSERT_EQ(run("network long.yaml net.yaml --json --out network.json"), 0) << file("stderr");
  // AddressSanitizer reserves terabytes of addresses: under it only the time is limited.
  const char* memory = kSanitized ? "" : "ulimit -v 3000000; ";
  EXPECT_EQ(shell(fmt::format("{}timeout 60 '{}' report network.json -o r.html", memory, kProgram)),
            0)
      << file("stderr");
  EXPECT_THAT(file("r.html"), HasSubstr("<b>Figure 3.</b>"));
}

TEST_F(ReportCommand, DrawsAHistogramWithItsOptimum) {
  ASSERT_EQ(run("histogram " + kConfigs + "arch/teaching.yaml " + kConfigs +
                "workloads/teaching/conv.yaml --mappings 50 --svg histogram.svg"),
            0)
      << file("stderr");
  const std::string svg = file("histogram.svg");
  for (const char* words : {">energy (", ">mappings</text>", ">proven optimum ",
                            "stroke=\"#cc3311\"", ": mappings by energy</text>"}) {
    EXPECT_THAT(svg, HasSubstr(words));
  }
}

// CSV has the unit in the key, the table in each value.
TEST_F(ReportCommand, ResultsForPeopleNameQuantitiesNotUnits) {
  ASSERT_EQ(run("sweep campaign.yaml --db r.sqlite --threads 1"), 0) << file("stderr");
  ASSERT_EQ(run("results r.sqlite"), 0);
  const std::string widths = file("stdout").substr(0, file("stdout").find('\n') + 1);
  EXPECT_THAT(widths, testing::StartsWith("operands "));
  const std::string rest = file("stdout").substr(widths.size());
  const std::string head = rest.substr(0, rest.find('\n'));
  EXPECT_THAT(head, HasSubstr(" energy "));
  EXPECT_THAT(head, Not(HasSubstr("energy_pj")));
  ASSERT_EQ(run("results r.sqlite --csv"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr(",energy_pj,"));
  ASSERT_EQ(run("results r.sqlite --json"), 0) << file("stderr");
  EXPECT_EQ(nlohmann::json::parse(file("stdout"))["widths"],
            (nlohmann::json{{"operands_bits", {8}}, {"outputs_bits", {8}}, {"sums_bits", {8}}}));
}

TEST_F(ReportCommand, OfMeasurementsNeedsTheGpu) {
  std::ofstream{folder() / "table.csv"} << "m,n,k,latency_us\n4096,4096,4096,620\n64,64,64,9\n";
  ASSERT_EQ(run("import gpu-table table.csv --gpu a100_80gb --precision bf16 -o all.csv"), 0);
  EXPECT_EQ(run("report all.csv"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("measurements need --arch"));
  EXPECT_EQ(run("report all.csv --arch " + kConfigs + "arch/t4.yaml"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("no measurements of 't4'"));
  ASSERT_EQ(run("report all.csv --arch " + kConfigs + "arch/a100_80gb.yaml"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("Times of 2 kernels on a100_80gb"));
  EXPECT_EQ(run("report all.csv --arch a100_80gb"), 0) << file("stderr");
  // In whatever letters, and under another name.
  ASSERT_EQ(run("import gpu-table table.csv --gpu A100_80GB --precision bf16 -o large.csv"), 0);
  ASSERT_EQ(run("report large.csv --arch " + kConfigs + "arch/a100_80gb.yaml"), 0);
  EXPECT_THAT(file("stdout"), HasSubstr("Times of 2 kernels on a100_80gb"));
  ASSERT_EQ(run("report all.csv --gpu a100_80gb --arch " + kConfigs + "arch/h100_sxm.yaml"), 0)
      << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("Times of 2 kernels on h100_sxm"));
  EXPECT_EQ(run("report all.csv --gpu a100_80gb"), 2);
}

TEST_F(ReportCommand, SaysWhatIsWrong) {
  EXPECT_EQ(run("report none.sqlite"), 2);
  EXPECT_THAT(file("stderr"),
              HasSubstr("none.sqlite: cannot be opened: No such file or directory"));
  EXPECT_EQ(run("report gemm.yaml"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("this is a workload, not a results database"));
  std::ofstream{folder() / "empty.json"}
      << R"({"tool": {"name": "mapsim"}, "schema": 2, "command": "network", "network": "n",
             "objective": "energy", "latency_mode": "steady", "strategy": "exact", "arch": "a",
             "clock_hz": 1e9, "mac_units": 4, "layers": [], "streams": []})";
  EXPECT_EQ(run("report empty.json"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("neither layers nor streams list anything"));
  std::ofstream{folder() / "other.sqlite"} << "SQLite format 3" << '\0' << "not a database";
  EXPECT_EQ(run("report other.sqlite"), 2);
  ASSERT_EQ(run("sweep campaign.yaml --db r.sqlite --threads 1"), 0);
  EXPECT_EQ(run("report r.sqlite --design 9"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("no design 9; they are numbered from 0 to 3"));
  EXPECT_EQ(run("report r.sqlite --campaign bufers"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("has no points of a campaign 'bufers'"));
  EXPECT_EQ(run("report r.sqlite -o r.sqlite"), 2);
  EXPECT_EQ(run("report r.sqlite --figures gemm.yaml -o r.html"), 2);
  EXPECT_FALSE(fs::exists(folder() / "r.html"));
}

}  // namespace
}  // namespace mapsim::report_test
