// SPDX-License-Identifier: Apache-2.0
#include "report/show.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "report/chart.hpp"
#include "report/svg.hpp"
#include "tests/report/small_problem.hpp"
#include "tests/support/svg_reader.hpp"

namespace mapsim::show_test {
namespace {

using ::testing::HasSubstr;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(ShowArch, DrawsABoxForEachNode) {
  const Problem problem = testing::small_problem();
  const std::string svg = show_arch(problem.arch());
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<rect x="), 4);
  for (const char* words : {">DRAM<", ">GLB<", ">PEs<", ">MAC<", ">64 B<", ">shared 1 B/cycle<",
                            ">2 columns along X: any dim<", ">4 units<"}) {
    EXPECT_THAT(svg, HasSubstr(words));
  }
}

TEST(ShowMapping, SaysWhatLiesWhereAndWhatMoves) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  const std::string svg =
      show_mapping(problem, mapping, std::get<Cost>(evaluate(problem, mapping)));
  for (const char* words :
       {">gemm on small<", ">columns: N 2<", ">rows: K 2<", ">A (input): multicast along the rows<",
        ">B (weight): one of its own in each instance<", ">Z (output): added up down the columns<",
        ">PEs: 2 columns x 2 rows<", ">2 x 2<", ">100.0 %<",
        "parallel N in 2 blocks of 2 over X of PEs"}) {
    EXPECT_THAT(svg, HasSubstr(words));
  }
}

// What stays fills the array in its colour of the legend, and the array has its proportions.
TEST(ShowMapping, DrawsTheArrayInTheColourOfWhatStays) {
  const Arch arch = parse_arch(R"(name: flat
nodes:
  - storage: DRAM
    capacity: unlimited
    energy: {read: 80 pJ/B, write: 80 pJ/B}
  - fanout: PEs
    x: 8
    y: 2
    spatial_reduction: true
  - storage: Register
    capacity: {weight: 1 B}
    energy: {read: 1 pJ/B, write: 1 pJ/B}
    keep: [weight]
  - compute: MAC
    energy: 1 pJ
    timing: {model: systolic, array: PEs}
)",
                               "flat.yaml");
  const Problem problem{arch, testing::small_problem().workload()};
  const TensorSet all{TensorId{0}, TensorId{1}, TensorId{2}};
  const DimId m{0};
  const DimId n{1};
  const DimId k{2};
  const Mapping mapping{{Keep{LevelId{0}, all}, Temporal{k, 2},
                         Parallel{n, 1, FanoutId{0}, Axis::kX},
                         Parallel{k, 1, FanoutId{0}, Axis::kY},
                         Keep{LevelId{1}, TensorSet{TensorId{1}}}, Temporal{m, 1}}};
  const std::string svg =
      show_mapping(problem, mapping, std::get<Cost>(evaluate(problem, mapping)));
  for (const char* words :
       {">B stays<", ">4 folds<", ">PEs: 8 columns x 2 rows<", ">A (input): moves along the rows<",
        ">Z (output): moves down the columns<", "width=\"240.0\" height=\"96.0\"",
        "width=\"120.0\" height=\"96.0\" fill=\"#eec79f\""}) {
    EXPECT_THAT(svg, HasSubstr(words));
  }
}

// 6 in tiles of 4 over 3 instances: 2, 2 of a whole tile; 2 of the rest on one of them.
TEST(Occupancies, AddUpToTheStepsAndKnowTheEdge) {
  const Problem problem = testing::small_problem();
  const DimId m{0};
  const DimId n{1};
  const DimId k{2};
  const TensorSet all{TensorId{0}, TensorId{1}, TensorId{2}};
  const Mapping mapping{{Keep{LevelId{0}, all}, Temporal{m, 4},
                         Parallel{m, 2, FanoutId{0}, Axis::kX}, Temporal{m, 1}, Temporal{n, 1},
                         Temporal{k, 1}}};
  const Nest nest = make_nest(problem.workload(), mapping);
  const std::vector<Occupancy> expected{{1, 1, 2 * 4 * 8}, {2, 1, 2 * 4 * 8}};
  EXPECT_EQ(occupancies(problem, nest, FanoutId{0}), expected);
}

bool has_dark_colour(const std::string& colour) {
  const std::vector<Paint> known = paints();
  return colour == "none" || std::any_of(known.begin(), known.end(), [&colour](const Paint& paint) {
           return paint.light == colour;
         });
}

// Names in boxes, on arrows and in legends stay within the picture and off what is beside them.
TEST(ShowMapping, ClipsLongNames) {
  std::string arch = R"(name: NAME
nodes:
  - storage: NAME_memory
    capacity: unlimited
    energy: {read: 80 pJ/B, write: 80 pJ/B}
  - fanout: NAME_array
    x: 2
    y: 2
    spatial_reduction: true
  - compute: NAME_unit
    energy: 4 pJ
)";
  for (const std::size_t letters : {1U, 60U, 5000U}) {
    std::string text = arch;
    for (std::size_t at = 0; (at = text.find("NAME", at)) != std::string::npos; at += letters) {
      text.replace(at, 4, std::string(letters, 'W'));
    }
    const Problem problem{parse_arch(text, "long.yaml"), testing::small_problem().workload()};
    const Mapping mapping{{Keep{LevelId{0}, TensorSet{TensorId{0}, TensorId{1}, TensorId{2}}},
                           Parallel{DimId{1}, 2, FanoutId{0}, Axis::kX},
                           Parallel{DimId{2}, 4, FanoutId{0}, Axis::kY}, Temporal{DimId{0}, 1},
                           Temporal{DimId{1}, 1}, Temporal{DimId{2}, 1}}};
    const std::string svg =
        show_mapping(problem, mapping, std::get<Cost>(evaluate(problem, mapping)));
    const SvgFile file = read_svg(svg);
    ASSERT_EQ(file.problem, "");
    EXPECT_LT(file.elements[0].number("width"), 1900);
    EXPECT_LT(svg.size(), 300'000U);
    for (const SvgElement& element : file.elements) {
      for (const char* paint : {"fill", "stroke"}) {
        const auto used = element.attributes.find(paint);
        EXPECT_TRUE(used == element.attributes.end() || has_dark_colour(used->second));
      }
      if (element.attributes.contains("xml:space")) {
        continue;  // the nest, which has its line alone
      }
      if (const auto box = words_box(element)) {
        EXPECT_TRUE(box->x > 320 || box->right() <= 320 || box->y < 30) << element.text;  // boxes
        EXPECT_LE(box->right(), file.elements[0].number("width"));
      }
    }
  }
}

TEST(Wrapped, BreaksAtBlanks) {
  EXPECT_EQ(wrapped("one two three", 10, 45), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("", 10, 40), std::vector<std::string>{""});
  EXPECT_EQ(wrapped("indivisible", 10, 5), std::vector<std::string>{"indivisible"});
}

// No words are cut off at the right.
TEST(Canvas, IsAsWideAsItsWords) {
  for (const bool fixed : {false, true}) {
    Canvas canvas;
    canvas.words({10, 20}, std::string(100, 'm'), {Anchor::kStart, 12, kInk, false, 0, 0, fixed});
    EXPECT_GT(read_svg(canvas.finish("words")).elements[0].number("width"), 10 + 100 * 12 * 0.6);
  }
}

TEST(Canvas, EscapesWhatIsMarkup) {
  Canvas canvas;
  canvas.words({1, 2}, "a < b & c");
  EXPECT_THAT(canvas.finish("words"), HasSubstr(">a &lt; b &amp; c</text>"));
}

}  // namespace
}  // namespace mapsim::show_test
