// SPDX-License-Identifier: Apache-2.0
// Figures and pages of names and values as nobody expects them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "report/designs.hpp"
#include "report/figures.hpp"
#include "report/histogram.hpp"
#include "report/nest.hpp"
#include "report/page.hpp"
#include "report/plots.hpp"
#include "report/show.hpp"
#include "report/table.hpp"
#include "tests/report/small_problem.hpp"
#include "tests/support/svg_reader.hpp"

namespace mapsim::extremes_test {
namespace {

using Limits = std::numeric_limits<double>;

const std::vector<double>& extreme_values() {
  static const std::vector<double> values{0,
                                          -0.0,
                                          Limits::denorm_min(),
                                          Limits::min(),
                                          1e-300,
                                          1e-20,
                                          1,
                                          1 + 1e-15,
                                          1e20,
                                          1.7e308,
                                          Limits::max(),
                                          Limits::infinity(),
                                          -Limits::infinity(),
                                          -1,
                                          -1.7e308,
                                          Limits::quiet_NaN()};
  return values;
}

const std::vector<std::string>& extreme_names() {
  static const std::vector<std::string> names{"",
                                              " ",
                                              "DRAM" + std::string(60, 'x'),
                                              std::string(10'000, 'W'),
                                              "</script><script>alert(7)</script>",
                                              "\"'&amp;<>]]>&",
                                              "a\tb\nc\x01\x7f",
                                              "\xff\xfe\xc0\x80 no UTF-8 \xed",
                                              "\xef\xbf\xbf is no character",
                                              "\u96fb\u5b50\U0001f600 \u05d0\u05d1 a\u0301",
                                              "%s %n {} {0} \\",
                                              "null"};
  return names;
}

ChartAxis axis(int factory, double low, double high) {
  switch (factory) {
    case 0:
      return ChartAxis::from_zero("energy", "J", high);
    case 1:
      return ChartAxis::around("energy", "J", {low, high});
    case 2:
      return ChartAxis::decades("energy", "J", low, high);
    default:
      return ChartAxis::of_bytes("capacity", {low, high});
  }
}

TEST(ChartAxis, HasFewTicksWithinWhateverItsEnds) {
  for (const int factory : {0, 1, 2, 3}) {
    for (const double low : extreme_values()) {
      for (const double high : extreme_values()) {
        const ChartAxis made = axis(factory, low, high);
        ASSERT_TRUE(std::isfinite(made.low()) && std::isfinite(made.high()));
        ASSERT_LT(made.low(), made.high());
        for (const std::size_t about : {std::size_t{0}, std::size_t{1}, std::size_t{5},
                                        std::numeric_limits<std::size_t>::max()}) {
          const auto ticks = made.ticks(about);
          EXPECT_GE(ticks.size(), 1U) << factory << " " << low << " " << high << " " << about;
          EXPECT_LE(ticks.size(), 3 * std::min<std::size_t>(about, 50) + 6)
              << factory << " " << low << " " << high << " " << about;
        }
        for (const double length : extreme_values()) {
          EXPECT_LE(made.ticks_along(length, 60).size(), 156U);
        }
        for (const double value : extreme_values()) {
          EXPECT_TRUE(made.place(value) >= 0 && made.place(value) <= 1) << value;
        }
      }
    }
  }
}

// Well-formed; every shape and all that is not turned within the picture; no more text than needed.
void expect_drawn(const std::string& svg) {
  const SvgFile file = read_svg(svg);
  ASSERT_EQ(file.problem, "") << svg.substr(0, 500);
  const double wide = file.elements[0].number("width");
  const double high = file.elements[0].number("height");
  EXPECT_LE(wide, kFigureWidth + 90) << svg.substr(0, 300);  // words beside the last bar
  EXPECT_LT(high, 2500);
  for (const SvgElement& element : file.elements) {
    for (const auto& [key, value] : element.attributes) {
      const bool is_number = key == "x" || key == "y" || key == "cx" || key == "cy" ||
                             key == "points" || key == "transform" || key == "r";
      EXPECT_FALSE(is_number && (value.find("nan") != std::string::npos ||
                                 value.find("inf") != std::string::npos))
          << key << " " << value;
    }
    if (element.name == "rect" && element.attributes.contains("x")) {
      EXPECT_GE(element.number("width"), 0);
      EXPECT_GE(element.number("height"), 0);
      EXPECT_TRUE(element.number("x") >= 0 && element.number("x") <= wide);
    }
    if (const auto box = words_box(element)) {
      EXPECT_GE(box->x, -1) << element.text;
      EXPECT_LE(box->right(), wide + 1) << element.text;
      EXPECT_LE(box->bottom(), high + 1) << element.text;
    }
  }
}

std::vector<std::string> figures_of(const std::string& name, double a, double b) {
  std::vector<std::string> rows;
  BarPanel energy{"energy", "J", {}, {}, {}, {}, 0.54};
  for (int part = 0; part < 8; ++part) {
    energy.parts.push_back({fmt::format("{}{}", name, part), "#332288"});
  }
  BarPanel latency{"latency", "s", {{"latency", kAccent}}, {}, {}, {}, 0.46};
  for (int row = 0; row < 3; ++row) {
    rows.push_back(name);
    energy.values.emplace_back(8, row == 0 ? a : b);
    energy.ends.push_back(si_text(a, "J"));
    latency.values.push_back({b});
    latency.ends.push_back(si_text(b, "s") + " " + name);
    latency.needles.push_back(a);
  }
  std::vector<DesignPoint> designs{{name, name, a, b, a, true, true}, {name, name, b, a, b}};
  std::vector<DesignPoint> flat = designs;
  for (DesignPoint& point : flat) {
    point.area.reset();
  }
  const std::vector<RooflinePoint> dots{{name, a, b, 0.5}, {name, b, a, b}, {name, 2, 1e9, 0.1}};
  const FrontChart front{{name, name},
                         ChartAxis::of_bytes(name, {a, b}),
                         ChartAxis::around(name, "J^2*s", {a, b}),
                         {{a, b, name}, {b, a, name}}};
  return {bars_svg(name, rows, {energy, latency}),
          bars_svg(name, {name}, {{"energy", "J", {{name, kAccent}}, {{a}}, {name}, {}, 1}}),
          designs_svg(name, designs),
          designs_svg(name, flat),
          roofline_svg(name, {a, {a, b, 8e9}, dots, name}),
          roofline_svg(name, {1e12, {}, dots}),
          front_svg(name, front),
          energies_svg(name, {{a, b, 1}, {a, b}, b, {name, name}}),
          energies_svg(name, {{}, {}, a, {name, name}}),
          predictions_svg(name, {{name, name, {{a, b}, {b, a}}}, {name, "", {}}})};
}

TEST(Figures, StandExtremeValues) {
  for (const double a : extreme_values()) {
    for (const double b : extreme_values()) {
      for (const std::string& svg : figures_of("name", a, b)) {
        ASSERT_NO_FATAL_FAILURE(expect_drawn(svg)) << a << " " << b;
      }
      ASSERT_FALSE(HasFailure()) << a << " " << b;
    }
  }
}

TEST(Figures, StandExtremeNames) {
  for (const std::string& name : extreme_names()) {
    for (const std::string& svg : figures_of(name, 1e-3, 2e-3)) {
      ASSERT_NO_FATAL_FAILURE(expect_drawn(svg)) << name.substr(0, 40);
    }
    ASSERT_FALSE(HasFailure()) << name.substr(0, 40);
  }
}

TEST(Figures, SayInATitleWhatTheyClip) {
  const std::string name = "DRAM" + std::string(60, 'x');
  for (const std::string& svg : figures_of(name, 1e-3, 2e-3)) {
    for (const SvgElement& element : read_svg(svg).elements) {
      if (element.name == "text" && element.text.ends_with("\u2026") &&
          !element.attributes.contains("aria-hidden")) {
        EXPECT_NE(element.title.find(name), std::string::npos) << element.text;
      }
    }
  }
}

std::string json_in(const std::string& html, const std::string& id) {
  const std::string start = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t from = html.find(start) + start.size();
  return html.substr(from, html.find("</script>", from) - from);
}

TEST(Page, StandsExtremeNamesAndValues) {
  for (const std::string& name : extreme_names()) {
    PageTable table{"t", name, {{"name", name, true}, {"value", name}}, {}};
    for (const double value : extreme_values()) {
      table.rows.push_back({name, value});
    }
    const Page page{
        name,
        {name},
        {{"s", name, {name}, {PageFigure{"f", name, "", name}, table, Listing{name, name}}}},
        name};
    const std::string html = page_html(page);
    EXPECT_EQ(first_non_text_byte(html), std::nullopt) << name.substr(0, 40);
    const auto data = nlohmann::json::parse(json_in(html, "t-data"));
    EXPECT_EQ(data["columns"][1]["data"].size(), extreme_values().size());
    EXPECT_TRUE(name.empty() || nlohmann::json::accept(json_in(html, "f-csv")));  // no CSV, no link
    EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  }
}

bool words_overlap(const Box& a, const Box& b) {
  constexpr double kTouch = 0.5;  // px that rounding may take
  return overlap({a.x + kTouch, a.y + kTouch, a.width - 2 * kTouch, a.height - 2 * kTouch}, b);
}

// Names of dots, of roofs and of the peak: no words lie on others.
TEST(Roofline, PrintsNoLabelOverAnother) {
  Rng rng{11};
  const auto between = [&rng](double low, double high) {
    return low * std::pow(high / low, static_cast<double>(rng.below(1000)) / 1000);
  };
  for (int round = 0; round < 60; ++round) {
    RooflineChart chart{between(1e9, 1e14), {}, {}};
    for (std::uint64_t i = 0; i <= rng.below(6); ++i) {
      chart.bytes_per_second.push_back(chart.peak_ops / between(5, 40));
    }
    std::sort(chart.bytes_per_second.rbegin(), chart.bytes_per_second.rend());
    for (int i = 0; i < 40; ++i) {
      const double intensity = between(1, 500);
      const double roof = std::min(chart.peak_ops, intensity * chart.bytes_per_second.front());
      chart.points.push_back({fmt::format("conv{}_{}", i / 5, i % 5), intensity,
                              roof * (i % 3 == 0 ? 1 : between(0.2, 1)), between(0.001, 0.3)});
    }
    std::vector<std::pair<std::string, Box>> words;
    const SvgFile file = read_svg(roofline_svg("roofline", chart));
    for (const SvgElement& element : file.elements) {
      const auto box = words_box(element);
      if (!box) {
        continue;
      }
      for (const auto& [other, taken] : words) {
        EXPECT_FALSE(words_overlap(*box, taken)) << element.text << " over " << other;
      }
      words.emplace_back(element.text, *box);
    }
    EXPECT_GT(words.size(), 15U);
  }
}

// Names of roofs, which are turned, keep apart by their middles.
TEST(Roofline, NamesRoofsThatLieCloseApart) {
  const RooflineChart chart{100e9, {8e9, 7.9e9, 7.8e9, 7.7e9}, {{"l", 2, 10e9, 0.4}}};
  std::vector<Point> middles;
  double width = 0;
  for (const SvgElement& element : read_svg(roofline_svg("roofline", chart)).elements) {
    if (element.text.ends_with("GB/s")) {
      const std::string& turned = element.attributes.at("transform");  // translate(X Y) rotate(A)
      const std::size_t gap = turned.find(' ');
      middles.push_back(
          {std::stod(turned.substr(turned.find('(') + 1)), std::stod(turned.substr(gap))});
      width = text_width(element.text, 10);
    }
  }
  ASSERT_GE(middles.size(), 2U);
  for (std::size_t i = 0; i < middles.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(std::hypot(middles[i].x - middles[j].x, middles[i].y - middles[j].y), width);
    }
  }
}

TEST(Tornado, StandsExtremeNamesAndChanges) {
  const auto figure = [](const std::string& name, double low, double high) {
    const TornadoSwing swing{{low, name, name}, {high, name, name}};
    return tornado_svg(name, {name, "row"}, {{name, {swing, {}}}, {"area", {swing, swing}}});
  };
  for (const std::string& name : extreme_names()) {
    ASSERT_NO_FATAL_FAILURE(expect_drawn(figure(name, -0.2, 0.3))) << name.substr(0, 40);
    ASSERT_FALSE(HasFailure()) << name.substr(0, 40);
  }
  for (const double low : extreme_values()) {
    for (const double high : extreme_values()) {
      ASSERT_NO_FATAL_FAILURE(expect_drawn(figure("name", low, high))) << low << " " << high;
    }
    ASSERT_FALSE(HasFailure()) << low;
  }
  EXPECT_EQ(read_svg(tornado_svg("none", {}, {{"energy", {}}})).problem, "");
}

FoundDesigns found_designs(const std::string& name, double a, double b, std::size_t count) {
  FoundDesigns found{name, name, name, ObjectiveFunction::product(1, 0), {}, {}};
  for (std::size_t k = 0; k < count; ++k) {
    found.designs.push_back({k, name, k == 0 ? a : b, k == 0 ? b : a});
    found.steps.push_back({name, name, k == 0 ? a : b, a, true});
    found.steps.push_back({name, name, b, {}, false});
  }
  return found;
}

// Of equal designs, of one and of none, too.
TEST(Designs, StandExtremeNamesAndValues) {
  for (const std::size_t count : {0U, 1U, 2U}) {
    for (const std::string& name : extreme_names()) {
      const FoundDesigns found = found_designs(name, 1e9, 2e9, count);
      ASSERT_NO_FATAL_FAILURE(expect_drawn(design_front_svg(found))) << name.substr(0, 40);
      ASSERT_NO_FATAL_FAILURE(expect_drawn(design_steps_svg(found))) << name.substr(0, 40);
      ASSERT_FALSE(HasFailure()) << name.substr(0, 40) << " " << count;
    }
    for (const double a : extreme_values()) {
      for (const double b : extreme_values()) {
        const FoundDesigns found = found_designs("name", a, b, count);
        ASSERT_NO_FATAL_FAILURE(expect_drawn(design_front_svg(found))) << a << " " << b;
        ASSERT_NO_FATAL_FAILURE(expect_drawn(design_steps_svg(found))) << a << " " << b;
      }
      ASSERT_FALSE(HasFailure()) << a << " " << count;
    }
  }
}

// An architecture with names of 10,000 characters, of which the reader allows letters alone.
Problem problem_with(const std::string& name) {
  const Problem small = testing::small_problem();
  Arch arch = small.arch();
  Workload workload = small.workload();
  arch.name = workload.name = name;
  for (const LevelId level : arch.levels.ids()) {
    arch.levels[level].name = name + arch.levels[level].name;
  }
  for (const FanoutId fanout : arch.fanouts.ids()) {
    arch.fanouts[fanout].name = name + arch.fanouts[fanout].name;
  }
  arch.compute.name = name;
  for (const DimId dim : workload.dims.ids()) {
    workload.dims[dim].name = name + workload.dims[dim].name;
  }
  for (const TensorId tensor : workload.tensors.ids()) {
    workload.tensors[tensor].name = name + workload.tensors[tensor].name;
  }
  return {arch, workload};
}

TEST(Show, StandsExtremeNames) {
  for (const std::string& name : extreme_names()) {
    const Problem problem = problem_with(name);
    const Mapping mapping = testing::small_mapping();
    const Cost cost = std::get<Cost>(evaluate(problem, mapping));
    for (const std::string& svg :
         {show_arch(problem.arch()), show_mapping(problem, mapping, cost)}) {
      const SvgFile file = read_svg(svg);
      ASSERT_EQ(file.problem, "") << name.substr(0, 40);
      EXPECT_LE(file.elements[0].number("width"), 4 * kFigureWidth) << name.substr(0, 40);
      EXPECT_LE(file.elements[0].number("height"), 2500) << name.substr(0, 40);
    }
    EXPECT_LT(draw_nest(problem, mapping, cost.counts).size(), 200 * (name.size() + 100));
  }
}

TEST(Table, StandsExtremeNames) {
  for (const std::string& name : extreme_names()) {
    const std::string text = table({{name, "b"}, {"a", name, name}, {}, {name}});
    EXPECT_LT(text.size(), 8 * name.size() + 100) << name.substr(0, 40);
    EXPECT_LE(table_name(name).size(), 60U + 3U);
    EXPECT_EQ(table({}), "");
    if (name.find('\n') == std::string::npos) {
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << name.substr(0, 40);
    }
  }
}

// Few characters, and a figure for each number that is one.
TEST(FigureText, IsShortForWhateverValue) {
  for (const double value : extreme_values()) {
    for (const std::string& text :
         {count_text(value), scaled(value, "s"), energy_text(Picojoules{value}), percent(value),
          ratio(value), si_text(value, "J")}) {
      EXPECT_LE(text.size(), 24U) << value << " " << text;
      EXPECT_GE(text.size(), 1U) << value;
      if (std::isfinite(100 * value)) {
        EXPECT_EQ(text.find("nan"), std::string::npos) << value;
        EXPECT_EQ(text.find("inf"), std::string::npos) << value;
      }
    }
  }
  for (const std::int64_t bits : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7},
                                  std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_LE(bytes_text(Bits{bits}).size(), 24U);
    EXPECT_LE(grouped(bits).size(), 26U);
  }
}

// Energies that are equal, none, of one mapping, and of none at all: each mapping in one bin.
TEST(Histogram, StandsExtremeEnergies) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  std::vector<std::vector<double>> lists{{}, {0}, {0, 0}, {0, 5}, {7}, {7, 7, 7}};
  for (const double a : extreme_values()) {
    for (const double b : extreme_values()) {
      if (std::isfinite(a) && std::isfinite(b) && a >= 0 && b >= 0) {
        lists.push_back({a, b, a});
      }
    }
  }
  for (const std::vector<double>& list : lists) {
    Histogram histogram;
    for (const double energy : list) {
      histogram.points.push_back({energy, 3});
    }
    ASSERT_NO_FATAL_FAILURE(expect_drawn(histogram_svg(space, {}, histogram)));
    const std::string text = histogram_text(space, {}, histogram);
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    EXPECT_LT(text.size(), 5000U);
    if (!list.empty()) {
      const HistogramBins bins = make_bins(histogram, 20);
      EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), std::int64_t{0}),
                std::ssize(list));
      EXPECT_FALSE(std::isnan(bins.edge(20)));
    }
  }
}

TEST(Energies, DrawTheOptimumWhereItLies) {
  const std::string svg = energies_svg("energies", {{1e-6, 2e-6, 4e-6, 8e-6}, {5, 7, 1}, 4e-6});
  std::vector<double> bars;
  double optimum = -1;
  for (const SvgElement& element : read_svg(svg).elements) {
    if (element.name == "rect" && element.attributes.contains("x")) {
      bars.push_back(element.number("x"));
    } else if (element.attributes.contains("points") &&
               element.attributes.at("stroke") == kSignal) {
      optimum = element.number("points");  // "X,Y ...": the first X
    }
  }
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_NEAR(optimum, bars[2], 0.1);
}

TEST(Standalone, HasTheColoursOfADarkScreen) {
  const std::string svg = standalone(energies_svg("energies", {{1e-6, 2e-6}, {5}, {}}));
  EXPECT_EQ(read_svg(svg).problem, "");
  EXPECT_NE(svg.find("<style>\n@media screen and (prefers-color-scheme: dark)"), std::string::npos);
  EXPECT_NE(svg.find(fmt::format("svg [fill=\"{}\"]", kAccent)), std::string::npos);
}

}  // namespace
}  // namespace mapsim::extremes_test
