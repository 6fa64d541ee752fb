// SPDX-License-Identifier: Apache-2.0
#include "campaign/report_select.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "campaign/report.hpp"
#include "core/rng.hpp"

namespace mapsim::report_select_test {
namespace {

using ::testing::HasSubstr;

// Designs of one layer; figures by a seed.
Study made_up(std::size_t designs) {
  Rng rng{1};
  Study study{"made_up", "net", "energy", "steady", "", "none", "exact", {}};
  for (std::size_t d = 0; d < designs; ++d) {
    DesignResult design;
    design.number = d + 1;
    design.arch = "machine";
    design.settings = {{"nodes.GLB.capacity", fmt::format("{} KiB", d + 1)}};
    design.clock_hz = 1e9;
    design.mac_units = 64;
    design.area_mm2 = 0.5 + static_cast<double>(rng.below(100'000)) / 1e4;
    LayerResult layer;
    layer.layer = "conv";
    layer.status = "optimal";
    layer.energy_pj = 1e6 + static_cast<double>(rng.below(9'000'000));
    layer.energy = {{"DRAM", "I", *layer.energy_pj}};
    layer.cycles = 10'000 + static_cast<std::int64_t>(rng.below(90'000));
    design.layers.push_back(layer);
    study.designs.push_back(design);
  }
  study.sum_up();
  return study;
}

Page page_of(const Study& study) {
  ReportInput input;
  input.sources = {"made_up.sqlite"};
  input.results.studies = {study};
  return report_page(input);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// A page of 10^5 designs is made in seconds, can be opened, and says what is not in it.
TEST(Report, OfManyDesignsShowsSome) {
  Study study = made_up(100'000);
  const std::vector<std::size_t> read = designs_to_read(study, 1, {});
  for (std::size_t i = 0; i < study.designs.size(); ++i) {
    if (!std::binary_search(read.begin(), read.end(), i)) {
      study.designs[i].layers.clear();
    }
  }
  const std::clock_t start = std::clock();
  const Page page = page_of(study);
  const std::string html = page_html(page);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10);
  EXPECT_LT(html.size(), 6'000'000U);
  const PageFigure& designs = std::get<PageFigure>(page.sections[0].parts[0]);
  const std::size_t dots = count_of(designs.csv, "\n") - 1;
  EXPECT_LE(dots, kMostDots);
  EXPECT_GT(dots, kMostDots / 4);
  EXPECT_LE(count_of(designs.svg, "<circle"), 3 * (kMostDots + 1));
  EXPECT_THAT(designs.caption,
              HasSubstr(fmt::format("Of 100000 designs {} are drawn: of dots that would cover each "
                                    "other one.",
                                    dots)));
  for (const std::string part :
       {"Of 100000 designs the 12000 on the front and with the least energy,",
        "Of 100000 points, one layer each, the 120"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  // Nothing that stands out is left out: the front, the best, the ends of the axes.
  const StudyPoints all = design_points(study);
  for (std::size_t i = 0; i < all.points.size(); ++i) {
    if (all.points[i].on_front || all.points[i].chosen) {
      EXPECT_NE(designs.csv.find("\n" + all.points[i].name + ","), std::string::npos) << i;
    }
  }
}

// None is better in one figure and as good in the others: by looking at all pairs.
TEST(MarkFront, IsWhatComparingAllPairsSays) {
  Rng rng{5};
  for (const bool areas : {false, true}) {
    for (int round = 0; round < 200; ++round) {
      std::vector<DesignPoint> points(1 + rng.below(40));
      for (DesignPoint& point : points) {
        point.energy = static_cast<double>(1 + rng.below(6));
        point.seconds = static_cast<double>(1 + rng.below(6));
        point.area = areas ? std::optional{static_cast<double>(1 + rng.below(6))} : std::nullopt;
      }
      mark_front(points);
      const auto as_good = [](const DesignPoint& a, const DesignPoint& b) {
        return a.energy <= b.energy && a.seconds <= b.seconds && (!a.area || *a.area <= *b.area);
      };
      for (const DesignPoint& point : points) {
        EXPECT_EQ(point.on_front,
                  std::none_of(points.begin(), points.end(), [&](const auto& other) {
                    return as_good(other, point) && !as_good(point, other);
                  }));
      }
    }
  }
}

}  // namespace
}  // namespace mapsim::report_select_test
