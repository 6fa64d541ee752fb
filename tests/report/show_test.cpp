// SPDX-License-Identifier: Apache-2.0
#include "report/show.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/svg.hpp"
#include "tests/report/small_problem.hpp"

namespace mapsim {
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
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
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

// Letters of fixed width, and larger ones of a title: no words are cut off at the right.
TEST(Canvas, IsAsWideAsItsWords) {
  Canvas canvas;
  canvas.text(10, 20, std::string(100, 'm'));
  EXPECT_THAT(canvas.finish(), HasSubstr("viewBox=\"0 0 760 44\""));
  canvas.text(10, 20, std::string(100, 'm'), Anchor::kStart, kTitleStyle);
  EXPECT_THAT(canvas.finish(), HasSubstr("viewBox=\"0 0 942 44\""));
}

TEST(Canvas, EscapesWhatIsMarkup) {
  Canvas canvas;
  canvas.text(1, 2, "a < b & c");
  EXPECT_THAT(canvas.finish(), HasSubstr(">a &lt; b &amp; c</text>"));
}

}  // namespace
}  // namespace mapsim
