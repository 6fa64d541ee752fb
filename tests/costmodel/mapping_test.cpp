// SPDX-License-Identifier: Apache-2.0
#include "costmodel/mapping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/gemm.hpp"

namespace mapsim::mapping_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr LevelId kDram{0};
constexpr LevelId kGlb{1};
constexpr LevelId kSpad{2};
constexpr FanoutId kColumns{0};
constexpr FanoutId kPes{1};
constexpr DimId kM{0};
constexpr DimId kN{1};
constexpr DimId kK{2};
constexpr TensorId kA{0};
constexpr TensorId kB{1};
constexpr TensorId kZ{2};
constexpr TensorSet kAll{kA, kB, kZ};

// DRAM | columns | GLB | PEs | spad (no room for outputs) | MAC
Arch machine() {
  Arch arch;
  for (const char* name : {"DRAM", "GLB", "spad"}) {
    Storage storage;
    storage.name = name;
    arch.levels.push_back(storage);
  }
  arch.levels[kSpad].capacity.per_role = {{Role::kInput, Bits{64}}, {Role::kWeight, Bits{64}}};
  for (const char* name : {"columns", "PEs"}) {
    Fanout fanout;
    fanout.name = name;
    fanout.x = 4;
    arch.fanouts.push_back(fanout);
  }
  arch.levels_above.push_back(1);
  arch.levels_above.push_back(2);
  return arch;
}

Workload cube() { return gemm("cube", {4, 4, 4, {}, false}); }

// "node: what" of every problem.
std::vector<std::string> problems(const Arch& arch, const Mapping& mapping) {
  std::vector<std::string> texts;
  for (const StructureProblem& problem : check_structure(arch, cube(), mapping)) {
    texts.push_back(std::to_string(problem.node) + ": " + problem.what);
  }
  return texts;
}

std::vector<std::string> problems(const Mapping& mapping) { return problems(machine(), mapping); }

TEST(CheckStructure, AcceptsAnUnevenMapping) {
  EXPECT_THAT(problems({{Keep{kDram, kAll}, Temporal{kM, 2}, Parallel{kN, 1, kColumns, Axis::kX},
                         Keep{kGlb, {kA}}, Temporal{kK, 2}, Keep{kGlb, {kZ}},
                         Parallel{kM, 1, kPes, Axis::kX}, Temporal{kK, 1}, Keep{kSpad, {kB}}}}),
              IsEmpty());
}

TEST(CheckStructure, WantsEverythingInTheOutermostLevelFirst) {
  EXPECT_THAT(
      problems({{Keep{kDram, {kA, kZ}}, Temporal{kM, 1}, Temporal{kN, 1}, Temporal{kK, 1},
                 Keep{kDram, {kB}}}}),
      ElementsAre("0: the nest must begin with DRAM keeping every tensor, but B is missing"));
}

TEST(CheckStructure, WantsKeepsOfATensorToGoInwards) {
  EXPECT_THAT(
      problems({{Keep{kDram, kAll}, Keep{kSpad, {kA, kB}}, Temporal{kM, 1}, Keep{kGlb, {kB, kZ}},
                 Temporal{kN, 1}, Temporal{kK, 1}, Keep{kSpad, {kA}}}}),
      ElementsAre("3: B is kept at GLB, which lies outside spad where it was kept before",
                  "6: A is kept twice at spad"));
}

TEST(CheckStructure, WantsKeepsOnTheirSideOfAFanout) {
  EXPECT_THAT(
      problems({{Keep{kDram, kAll}, Keep{kGlb, {kA}}, Parallel{kM, 1, kColumns, Axis::kX},
                 Parallel{kN, 1, kPes, Axis::kX}, Keep{kGlb, {kB}}, Temporal{kK, 1}}}),
      ElementsAre(
          "2: parallel M over columns stands below the keep of GLB, which lies under columns",
          "4: GLB lies above PEs: it must keep before the parallel loops of PEs"));
}

TEST(CheckStructure, WantsFanoutsInOrder) {
  EXPECT_THAT(
      problems({{Keep{kDram, kAll}, Parallel{kM, 1, kPes, Axis::kX},
                 Parallel{kN, 1, kColumns, Axis::kX}, Temporal{kK, 1}}}),
      ElementsAre("2: parallel N over columns stands below PEs, which lies inside columns"));
}

TEST(CheckStructure, WantsExtentsToShrinkToOne) {
  EXPECT_THAT(problems({{Keep{kDram, kAll}, Temporal{kM, 5}, Temporal{kN, 2}, Temporal{kN, 3},
                         Temporal{kN, 1}, Temporal{kM, 0}, Temporal{kK, 1}}}),
              ElementsAre("1: M has extent 5, more than the 4 above it",
                          "3: N has extent 3, more than the 2 above it",
                          "5: M has extent 0, which is less than 1",
                          "7: the nest ends with M at extent 4, not 1"));
}

TEST(CheckStructure, HoldsToWhatTheArchitectureKeepsAndBypasses) {
  Arch arch = machine();
  arch.levels[kGlb].keep = {Role::kInput, Role::kOutput};
  arch.levels[kGlb].bypass = {Role::kWeight};
  EXPECT_THAT(problems(arch, {{Keep{kDram, kAll}, Keep{kGlb, {kB, kZ}}, Keep{kSpad, {kZ}},
                               Temporal{kM, 1}, Temporal{kN, 1}, Temporal{kK, 1}}}),
              ElementsAre("1: B is kept at GLB, which weight must bypass",
                          "2: Z is kept at spad, which has no partition for output",
                          "6: A is not kept at GLB, which must keep input"));
}

TEST(CheckStructure, RefusesAnEmptyKeep) {
  EXPECT_THAT(problems({{Keep{kDram, kAll}, Keep{kGlb, {}}, Temporal{kM, 1}, Temporal{kN, 1},
                         Temporal{kK, 1}}}),
              ElementsAre("1: GLB keeps no tensor"));
}

TEST(Canonical, DropsLoopsThatDoNothingAndJoinsWhatThenMeets) {
  const Mapping mapping{{Keep{kDram, kAll}, Temporal{kM, 4}, Temporal{kK, 3}, Temporal{kM, 4},
                         Parallel{kN, 4, kPes, Axis::kX}, Temporal{kK, 1}, Keep{kGlb, kAll},
                         Temporal{kM, 1}, Parallel{kN, 1, kPes, Axis::kX}}};
  const Mapping expected{{Keep{kDram, kAll}, Temporal{kK, 1}, Keep{kGlb, kAll}, Temporal{kM, 1},
                          Parallel{kN, 1, kPes, Axis::kX}}};
  EXPECT_EQ(canonical(cube(), mapping), expected);
}

TEST(Canonical, SeparatesLoopsByKeepsAndByOtherLoops) {
  const Mapping mapping{{Keep{kDram, kAll}, Temporal{kK, 2}, Keep{kGlb, {kA}}, Temporal{kK, 1},
                         Temporal{kM, 2}, Temporal{kN, 1}, Temporal{kM, 1}}};
  EXPECT_EQ(canonical(cube(), mapping), mapping);
}

TEST(Canonical, SortsAndJoinsKeepsThatStandTogether) {
  const Mapping mapping{{Keep{kDram, {kA, kB}}, Keep{kSpad, {kB}}, Keep{kGlb, {kA}},
                         Keep{kDram, {kZ}}, Keep{kGlb, {kZ}}, Temporal{kM, 1}, Temporal{kN, 1},
                         Temporal{kK, 1}}};
  const Mapping expected{{Keep{kDram, kAll}, Keep{kGlb, {kA, kZ}}, Keep{kSpad, {kB}},
                          Temporal{kM, 1}, Temporal{kN, 1}, Temporal{kK, 1}}};
  EXPECT_EQ(canonical(cube(), mapping), expected);
}

}  // namespace
}  // namespace mapsim::mapping_test
