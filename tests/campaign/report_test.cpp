// SPDX-License-Identifier: Apache-2.0
#include "campaign/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "campaign/store.hpp"
#include "campaign/sweep.hpp"
#include "core/diagnostic.hpp"
#include "tests/campaign/made_up.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/in_chromium.hpp"

namespace mapsim::report_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Shapes in groups of class "marks", in a figure or in what a browser made of a page.
std::size_t marks_in(const std::string& svg) {
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = svg.find("<g class=\"marks\"", at)) != std::string::npos;) {
    const std::size_t end = svg.find("</g>", at);
    for (const char* shape : {"<circle ", "<rect "}) {
      for (std::size_t i = at; (i = svg.find(shape, i)) < end; ++i) {
        ++marks;
      }
    }
    at = end;
  }
  return marks;
}

TEST(Report, DrawsEveryDesignLayerAndNode) {
  const Page page = page_of({made_up(12, 5)});
  const auto figures = figures_of(page);
  ASSERT_EQ(figures.size(), 6U);
  EXPECT_EQ(marks_in(figures[0]->svg), 3 * 12U);       // designs in three panels
  EXPECT_EQ(marks_in(figures[1]->svg), 12 * 3U);       // designs by node
  EXPECT_GT(marks_in(figures[2]->svg), 0U);            // what settings are worth
  EXPECT_EQ(marks_in(figures[3]->svg), 5 * (3U + 1));  // layers: energy by node, latency
  EXPECT_EQ(marks_in(figures[4]->svg), 3U);            // node by tensor
  EXPECT_EQ(marks_in(figures[5]->svg), 5U);            // roofline
  for (const PageFigure* figure : figures) {
    EXPECT_GT(std::count(figure->csv.begin(), figure->csv.end(), '\n'), 1) << figure->name;
  }
}

// What only moves data is in the sums, and beside the roofline, where it has no place.
TEST(Report, SaysWhatMovesDataOnly) {
  Study study = made_up(1, 2);
  DesignResult& design = study.designs[0];
  LayerResult pool;
  pool.layer = "pool";
  pool.count = 3;
  pool.status = "priced";
  pool.energy_pj = design.energy_pj() / 3;
  pool.cycles = design.cycles();
  pool.energy = {{"operators without MACs", "", *pool.energy_pj}};
  design.layers.push_back(pool);
  const Page page = page_of({study});
  EXPECT_THAT(page.sections[0].paragraphs[0],
              HasSubstr(" 3 memory-bound operators take 75.0 % of the time and 50.0 % of the "
                        "energy."));
  EXPECT_THAT(figures_of(page).back()->svg,
              HasSubstr("besides: 3 operators without MACs, 75.0 % of the time"));
}

TEST(Report, NamesSectionsAndFiguresByWhatWasAsked) {
  Study ramped = made_up(2, 2);
  ramped.latency = "ramped";
  EXPECT_EQ(page_of({ramped}).sections[0].title, "net: least energy, ramped latency");
  ramped.campaign = "second";
  const Page page = page_of({made_up(2, 2), ramped});
  EXPECT_EQ(page.sections[0].title, "made_up, net: least energy");
  EXPECT_EQ(page.sections[1].title, "second, net: least energy, ramped latency");
  EXPECT_EQ(std::get<PageFigure>(page.sections[0].parts[0]).name, "made-up-net-energy-designs");
  EXPECT_EQ(std::get<PageFigure>(page.sections[1].parts[0]).name,
            "second-net-energy-ramped-latency-designs");
}

TEST(Report, IsTheSameForTheSameResults) {
  EXPECT_EQ(page_html(page_of({made_up(20, 4)})), page_html(page_of({made_up(20, 4)})));
}

TEST(Report, TheBestDesignHasTheLeastObjectiveAndOfEqualsTheLeastTime) {
  Study study = made_up(3, 2);
  for (DesignResult& design : study.designs) {
    for (LayerResult& layer : design.layers) {
      layer.energy_pj = 5;
      layer.count = 1;
      layer.cycles = design.number == 2 ? 10 : 20;
    }
  }
  const auto best = [&study] {
    study.sum_up();
    return study.best()->number;
  };
  EXPECT_EQ(best(), 2U);
  study.designs[2].layers[0].energy_pj = 4;
  EXPECT_EQ(best(), 3U);
  study.objective = "latency";
  EXPECT_EQ(best(), 2U);
  study.designs[1].layers[0].energy_pj.reset();
  EXPECT_EQ(best(), 3U);
}

TEST(Report, SaysWhatHasNoMapping) {
  Study study = made_up(2, 2);
  for (DesignResult& design : study.designs) {
    design.layers[1].energy_pj.reset();
    design.layers[1].status = "infeasible";
    design.layers[1].reason = "nothing fits: GLB capacity";
  }
  const std::string html = page_html(page_of({study}));
  EXPECT_THAT(html, HasSubstr("No design has a mapping of every layer"));
  EXPECT_THAT(html, HasSubstr("2 \u00d7 nothing fits: GLB capacity"));
}

TEST(Report, SaysTheWidthsOfElements) {
  Study study = made_up(2, 3);
  for (DesignResult& design : study.designs) {
    design.layers[0].widths = "operands 16 b, sums 32 b";
    design.layers[1].widths = design.layers[2].widths = "operands 8 b, sums 32 b";
  }
  EXPECT_THAT(page_html(page_of({study})),
              HasSubstr("<p>Widths: operands 8 b, sums 32 b (2 layers); operands 16 b, sums "
                        "32 b (1 layer).</p>"));
  ReportInput input;
  read_json_results(R"({"tool": {"name": "mapsim"}, "schema": 2, "command": "search",
    "operand_bits": {"I": 8, "W": 4}, "sum_bits": 32, "output_bits": 32, "arch": "a",
    "workload": "w", "front": "energy_latency", "complete": true, "clock_hz": 1e9, "points": []})",
                    "front.json", input.results);
  EXPECT_THAT(page_html(report_page(input)),
              HasSubstr("<p>Widths: I 8 b, W 4 b, outputs 32 b, sums 32 b.</p>"));
}

TEST(Report, RefusesADesignThatIsNotThere) {
  ReportInput input;
  input.results.studies = {made_up(3, 1)};
  input.designs = {4};
  try {
    report_page(input);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no design 4; they are numbered from 1 to 3"));
  }
}

TEST(JsonResults, RefusesWhatItDoesNotKnow) {
  const auto error_of = [](const std::string& text) -> std::string {
    JsonResults results;
    try {
      read_json_results(text, "r.json", results);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::string head = R"("tool": {"name": "mapsim"}, "schema": 1)";
  EXPECT_THAT(error_of("{"), HasSubstr("r.json: is not JSON: at byte 2"));
  EXPECT_THAT(error_of("{}"), HasSubstr("is not a result of mapsim --json"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("r.json: is not"));
  EXPECT_THAT(error_of(R"({"tool": 3})"), HasSubstr("r.json: is not"));
  EXPECT_THAT(error_of(R"({"tool": {"name": "mapsim"}, "schema": 9})"),
              HasSubstr("is of schema 9; this mapsim reads 1 to 4"));
  EXPECT_THAT(error_of("{" + head + R"(, "command": "check"})"), HasSubstr("nothing to draw"));
  EXPECT_EQ(error_of("{" + head + R"(, "command": "network"})"),
            "r.json: is not what this mapsim prints with --json: key 'network' not found");
  EXPECT_THAT(error_of("{" + head + R"(, "command": "network", "chains": []})"),
              HasSubstr("r.json: of fused layers"));
  EXPECT_THAT(error_of("{" + head + R"(, "command": "search", "chain": "attention"})"),
              HasSubstr("r.json: of fused layers"));
}

// Among the workloads or the networks: layers of a network, each as often as it occurs.
TEST(CampaignOfAModel, HasItsLayers) {
  const fs::path model = std::string{kBuild} + "/models/resnet50.onnx";
  for (const char* key : {"workloads", "networks"}) {
    const Campaign campaign = parse_campaign(
        fmt::format("name: c\narchitectures: [{{file: arch/teaching.yaml}}]\n{}: [{}]\n", key,
                    model.string()),
        source_path("configs/campaign.yaml"));
    std::int64_t layers = 0;
    std::int64_t mapped = 0;
    std::int64_t priced = 0;
    for (const CampaignLayer& layer : campaign.layers) {
      EXPECT_EQ(layer.network, campaign.layers[0].network);
      EXPECT_FALSE(layer.network.empty());
      layers += layer.stream ? 0 : 1;
      (layer.stream ? priced : mapped) += layer.count;
    }
    EXPECT_EQ(layers, 24);
    EXPECT_EQ(mapped, 54);  // 53 convolutions, normalisations folded, and the classifier
    EXPECT_EQ(priced, 16 + 1 + 1 + 49);  // sums, pools, activations
  }
}

// A campaign of 8 points, swept into a database.
class ReportOfADatabase : public ::testing::Test {
 protected:
  ReportOfADatabase() {
    std::string pattern = (fs::temp_directory_path() / "mapsim_report_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream{folder_ / "gemm.yaml"} << "name: tiny\ngemm: {m: 4, n: 4, k: 8}\n";
    std::ofstream{folder_ / "gemv.yaml"} << "name: thin\ngemm: {m: 1, n: 4, k: 8}\n";
    std::ofstream{folder_ / "campaign.yaml"}
        << "name: small\narchitectures:\n  - file: " << source_path("configs/arch/teaching.yaml")
        << "\n"
           "    grid: {nodes.Buffer.capacity: [1 KiB, 2 KiB], 'nodes[1].storage': [Buffer, "
           "Registers]}\n"
           "workloads: [gemm.yaml, gemv.yaml]\nobjectives: [edp]\n";
    const std::atomic<bool> stop = false;
    SweepOptions options;
    options.database = database();
    options.stop = &stop;
    sweep(load_campaign(folder_ / "campaign.yaml"), options);
  }
  ~ReportOfADatabase() override { fs::remove_all(folder_); }
  std::string database() const { return folder_ / "small.sqlite"; }

 private:
  fs::path folder_;
};

TEST_F(ReportOfADatabase, HasItsRows) {
  const std::vector<Study> studies = read_studies(database(), "");
  ASSERT_EQ(studies.size(), 1U);
  EXPECT_EQ(studies[0].question(), "least edp");
  ASSERT_EQ(studies[0].designs.size(), 4U);
  for (const DesignResult& design : studies[0].designs) {
    const bool readable = design.settings[1].second == "Buffer";  // else a name twice
    EXPECT_EQ(design.is_complete(), readable);
    for (const LayerResult& layer : design.layers) {
      EXPECT_EQ(layer.status, readable ? "optimal" : "error");
      EXPECT_THAT(layer.widths, testing::StartsWith("operands "));
      double sum = 0;
      for (const EnergyPart& part : layer.energy) {
        sum += part.pj;
      }
      EXPECT_NEAR(sum, layer.energy_pj.value_or(0), 1e-9 * sum);
    }
  }
  EXPECT_THROW(read_studies(database(), "other"), ConfigError);

  // A setting that no two designs differ in is not in their names.
  const auto edit = [this](const char* sql) { Database{database()}.execute(sql); };
  edit("DELETE FROM designs WHERE settings LIKE '%Registers%'");
  const Study study = read_studies(database(), "").front();
  ASSERT_EQ(study.designs.size(), 2U);
  EXPECT_EQ(study.designs[0].name(), "teaching, Buffer.capacity 1 KiB");
  EXPECT_THAT(study.fixed, testing::ElementsAre("nodes[1].storage Buffer"));
  EXPECT_THAT(page_html(page_of({study})),
              HasSubstr("<p>All designs: nodes[1].storage Buffer.</p>"));
}

TEST_F(ReportOfADatabase, OfAnotherSchemaGetsAClearMessage) {
  {
    Database{database()}.execute("PRAGMA user_version = 7");
  }
  try {
    read_studies(database(), "");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has schema 7; this mapsim reads 4 to 6, and writes 6"));
  }
}

// ----- in a browser -----

// The cells of a column of the table in the order that they have on the page.
std::vector<double> column(const std::string& dom, const std::string& table, std::size_t index) {
  std::vector<double> values;
  const std::size_t from = dom.find("id=\"" + table + "\"");
  std::size_t at = dom.find("<tbody>", from);
  const std::size_t end = dom.find("</tbody>", from);
  while ((at = dom.find("<tr", at)) < end) {
    for (std::size_t i = 0; i <= index; ++i) {
      at = dom.find("<td", at + 1);
    }
    values.push_back(std::stod(dom.substr(dom.find('>', at) + 1)));
  }
  return values;
}

TEST_F(InChromium, RendersEveryMarkWithoutErrors) {
  const Page page = page_of({made_up(12, 5), made_up(30, 9, 2)});
  write(page_html(page));
  std::size_t marks = 0;
  for (const PageFigure* figure : figures_of(page)) {
    marks += marks_in(figure->svg);
  }
  const std::string dom = open("--dump-dom");
  EXPECT_EQ(marks_in(dom), marks);
  EXPECT_THAT(dom, HasSubstr("<html lang=\"en\" class=\"js\""));
}

TEST_F(InChromium, SavesFiguresAndTheirData) {
  std::string html = page_html(page_of({made_up(12, 5)}));
  const std::string probe =
      "<script>for(const a of document.querySelectorAll('.save a')){a.addEventListener('click',"
      "e=>e.preventDefault());a.click()}</script></body>";
  html.replace(html.rfind("</body>"), 7, probe);
  write(html);
  const std::string dom = open("--dump-dom");
  std::size_t links = 0;
  for (std::size_t at = 0; (at = dom.find("<a href=\"blob:", at)) != std::string::npos; ++at) {
    ++links;
  }
  EXPECT_EQ(links, 2 * 6U);
}

TEST_F(InChromium, SortsAndFilters) {
  write(page_html(page_of({made_up(130, 2)})));
  const std::string table = "net-energy-designs-table";
  const auto ascending = column(open("--dump-dom", "#sort=" + table + ":energy:asc"), table, 4);
  ASSERT_EQ(ascending.size(), 100U);  // the first page of 130
  EXPECT_TRUE(std::is_sorted(ascending.begin(), ascending.end()));
  const std::string dom = open("--dump-dom", "#sort=" + table + ":energy:desc");
  const auto descending = column(dom, table, 4);
  EXPECT_TRUE(std::is_sorted(descending.rbegin(), descending.rend()));
  EXPECT_GT(descending.front(), ascending.back());
  EXPECT_THAT(dom, HasSubstr("aria-sort=\"descending\""));
  EXPECT_THAT(dom, HasSubstr("100 of 130 rows"));
  // Quantities by size: 2 KiB before 16 KiB.
  const auto sizes =
      column(open("--dump-dom", "#sort=" + table + ":nodes.GLB.capacity:asc"), table, 2);
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_THAT(open("--dump-dom", "#filter=" + table + ":256"), HasSubstr("found of 130 rows"));
}

TEST_F(InChromium, IsLightOrDarkAndPrints) {
  write(page_html(page_of({made_up(12, 5)})));
  open("--screenshot=light.png");
  open("--blink-settings=preferredColorScheme=0 --screenshot=dark.png");
  const std::string light = contents(folder() / "light.png");
  const std::string dark = contents(folder() / "dark.png");
  EXPECT_GT(light.size(), 20'000U);
  EXPECT_GT(dark.size(), 20'000U);
  EXPECT_NE(light, dark);
  open("--print-to-pdf=page.pdf --no-pdf-header-footer");
  const std::string pdf = contents(folder() / "page.pdf");
  const std::regex leaf{R"(/Type\s*/Page\b)"};
  EXPECT_GE(std::distance(std::sregex_iterator{pdf.begin(), pdf.end(), leaf}, {}), 2);
  if (std::system("command -v pdftotext >/dev/null 2>&1") != 0) {
    return;  // of poppler-utils
  }
  // The heads of two tables, and again on the page where the second goes on.
  const std::string command =
      fmt::format("cd '{}' && pdftotext -layout page.pdf page.txt", folder().string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string words = contents(folder() / "page.txt");
  const std::regex head{"use of MACs"};
  EXPECT_GE(std::distance(std::sregex_iterator{words.begin(), words.end(), head}, {}), 3) << words;
}

// A table that fits says nothing; one that does not says so, and shades its edge.
TEST_F(InChromium, SaysThatATableIsWiderThanThePage) {
  const auto table = [](const std::string& name, std::size_t columns) {
    PageTable made{name, name, {}, {{}}};
    for (std::size_t i = 0; i < columns; ++i) {
      made.columns.push_back({fmt::format("c{}", i), fmt::format("column {}", i)});
      made.rows[0].emplace_back(1e-9 * static_cast<double>(i + 1));
    }
    return made;
  };
  write(page_html({"p", {}, {{"s", "s", {}, {table("narrow", 3), table("wide", 30)}}}, ""}));
  const std::string dom = open("--dump-dom");
  const std::string hint = "<span class=\"wide scrolls\">wider than the page";
  EXPECT_GT(dom.find(hint), dom.find("id=\"wide\""));
  EXPECT_NE(dom.find(hint), std::string::npos);
}

// 10,000 rows: in less than two seconds to the end of loading, the table sorted and laid out.
// What makes it open at once: rows are data, and only those of one screen become elements.
TEST_F(InChromium, MakesElementsOfAHundredRowsOfTenThousand) {
  const std::string html = page_html(page_of({made_up(500, 20)}));
  EXPECT_LT(html.size(), 3'000'000U);
  write(html);
  const std::string dom = open("--dump-dom", "#sort=points-table:energy:desc");
  EXPECT_THAT(dom, HasSubstr("100 of 10000 rows"));
  std::size_t rows = 0;
  for (std::size_t at = dom.find("<tr"); at != std::string::npos; at = dom.find("<tr", at + 1)) {
    ++rows;
  }
  RecordProperty("rows", fmt::format("{}", rows));
  EXPECT_LT(rows, 1'000U);
}

}  // namespace
}  // namespace mapsim::report_test
