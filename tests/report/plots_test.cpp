// SPDX-License-Identifier: Apache-2.0
#include "report/plots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>
#include <string>

#include "core/rng.hpp"

namespace mapsim::plots_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
    ++found;
  }
  return found;
}

TEST(SiText, KeepsThreeDigitsWithThePrefixThatSuits) {
  EXPECT_EQ(si_text(0.01072, "J"), "10.7 mJ");
  EXPECT_EQ(si_text(1.5e-6, "s", 2), "1.5 µs");
  EXPECT_EQ(si_text(67.2e9, "op/s"), "67.2 Gop/s");
  EXPECT_EQ(si_text(0.022, "mm²"), "0.0220 mm²");  // areas have no prefix
  EXPECT_EQ(si_text(0, "J"), "0.00 J");
  EXPECT_EQ(si_text(INFINITY, "B/s"), "unlimited");
}

// Ticks lie on the scale, in order, and their words are unlike each other, without an exponent.
TEST(ChartAxis, TicksReadWellWhateverTheData) {
  Rng rng{5};
  for (int i = 0; i < 2000; ++i) {
    const double low = std::pow(10.0, static_cast<double>(rng.below(120)) / 10 - 11);
    const double high = low * std::pow(10.0, static_cast<double>(rng.below(60)) / 10 + 0.05);
    for (const ChartAxis& axis :
         {ChartAxis::from_zero("e", "J", high), ChartAxis::decades("e", "J", low, high),
          ChartAxis::around("e", "J", {low, high})}) {
      const auto ticks = axis.ticks();
      ASSERT_GE(ticks.size(), 1U) << low << " " << high;
      ASSERT_LE(ticks.size(), 12U) << low << " " << high;
      std::set<std::string> words;
      for (std::size_t t = 0; t < ticks.size(); ++t) {
        EXPECT_GE(axis.place(ticks[t].value), -1e-6);
        EXPECT_LE(axis.place(ticks[t].value), 1 + 1e-6);
        EXPECT_TRUE(t == 0 || ticks[t].value > ticks[t - 1].value);
        EXPECT_FALSE(ticks[t].text.starts_with("-"));
        words.insert(ticks[t].text);
      }
      EXPECT_EQ(words.size(), ticks.size());
    }
  }
}

TEST(MarkFront, KeepsWhatNoOtherBeats) {
  Rng rng{3};
  for (const bool areas : {false, true}) {
    std::vector<DesignPoint> points;
    for (int i = 0; i < 200; ++i) {
      const auto figure = [&] { return 1.0 + static_cast<double>(rng.below(12)); };
      points.push_back({"", "", figure(), figure(), areas ? std::optional{figure()} : std::nullopt,
                        false, false});
    }
    mark_front(points);
    for (const DesignPoint& a : points) {
      bool beaten = false;
      for (const DesignPoint& b : points) {
        const bool no_worse =
            b.energy <= a.energy && b.seconds <= a.seconds && (!areas || *b.area <= *a.area);
        const bool better =
            b.energy < a.energy || b.seconds < a.seconds || (areas && *b.area < *a.area);
        beaten = beaten || (no_worse && better);
      }
      EXPECT_EQ(a.on_front, !beaten);
    }
  }
}

std::vector<std::string> one_of_each() {
  std::vector<DesignPoint> designs{{"1", "1: a", 1e-3, 2e-3, 1.0, true, true},
                                   {"2", "2: b <c> & \"d\"", 2e-3, 3e-3, 2.0, false, false}};
  return {
      bars_svg("bars", {"one", "two"},
               {{"energy",
                 "J",
                 {{"A", "#332288"}, {"B", "#88ccee"}},
                 {{1, 2}, {0, 3}},
                 {"3 J", "3 J"},
                 {-1, 2},
                 1}}),
      roofline_svg("roofline", {100e9, {8e9, 4e9}, {{"l", 2, 10e9, 0.4}, {"m", 50, 90e9, 0.6}}}),
      designs_svg("designs", designs),
      energies_svg("energies", {{1e-6, 2e-6, 4e-6}, {5, 7}, 0.9e-6}),
      predictions_svg("predictions", {{"f16", "MAPE 3 %", {{1e-6, 1.1e-6}, {1e-3, 1e-3}}}})};
}

TEST(Figures, HaveAMarkForEachDatum) {
  const std::vector<std::string> figures = one_of_each();
  const std::vector<std::size_t> marks{3, 2, 6, 2, 2};  // designs: in each of three panels
  for (std::size_t i = 0; i < figures.size(); ++i) {
    std::size_t found = 0;
    const std::regex group{R"re(<g class="marks"[^>]*>\n([^]*?)</g>)re"};
    for (std::sregex_iterator it{figures[i].begin(), figures[i].end(), group}, end; it != end;
         ++it) {
      found += count((*it)[1], "<circle") + count((*it)[1], "<rect");
    }
    EXPECT_EQ(found, marks[i]) << figures[i];
  }
}

// Every colour on paper has one on a dark screen, or something would vanish there.
TEST(Figures, UseNoColourWithoutADarkOne) {
  std::set<std::string> known{"none"};
  for (const Paint& paint : paints()) {
    known.insert(std::string{paint.light});
  }
  for (const std::string& figure : one_of_each()) {
    const std::regex paint{R"re((fill|stroke)="([^"]*)")re"};
    for (std::sregex_iterator it{figure.begin(), figure.end(), paint}, end; it != end; ++it) {
      EXPECT_TRUE(known.contains((*it)[2])) << (*it)[0];
    }
  }
}

TEST(Figures, EscapeWhatNamesContain) {
  const std::string figure = one_of_each()[2];
  EXPECT_NE(figure.find("2: b &lt;c> &amp; &quot;d&quot;"), std::string::npos);
}

TEST(TextWidth, CountsLettersNotBytes) {
  EXPECT_DOUBLE_EQ(text_width("µ", 10), text_width("€", 10));
  EXPECT_LT(text_width("iii", 10), text_width("mmm", 10));
  EXPECT_EQ(clipped("short", 10, 100), "short");
  const std::string cut = clipped("ein sehr langer Name mit µµµµµµµ", 10, 60);
  EXPECT_TRUE(cut.ends_with("\u2026"));
  EXPECT_LE(text_width(cut, 10), 60);
}

}  // namespace
}  // namespace mapsim::plots_test
