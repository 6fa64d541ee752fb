// SPDX-License-Identifier: Apache-2.0
// What `mapsim check` says of what it has verified, and of what it has not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "core/hash.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::check_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string kRoot = kSource;

class CheckCommand : public InFolder {
 protected:
  int run(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", kProgram, arguments));
  }
  // Of a small GEMM, under these constraints.
  void prove(const std::string& constraints) const {
    write("rules.yaml", constraints);
    ASSERT_EQ(run(fmt::format("search {0}/configs/arch/teaching.yaml "
                              "{0}/tests/app/data/small_gemm.yaml --constraints rules.yaml "
                              "--certificate proof.yaml",
                              kRoot)),
              0)
        << file("stderr");
  }
  // Another number of mappings, under a digest that fits.
  void forge_count(const std::string& count) const {
    std::string proof = file("proof.yaml");
    proof = std::regex_replace(proof, std::regex{"mapspace: \"[0-9]+\""},
                               "mapspace: \"" + count + "\"");
    proof.erase(proof.rfind("digest: "));
    write("proof.yaml", proof + fmt::format("digest: {:016x}\n", fnv1a(proof)));
  }
  // Without the times that a check takes.
  std::string said() const {
    return std::regex_replace(file("stdout"), std::regex{"checked in [^;]*;"}, "checked in T;");
  }
};

constexpr const char* kRuled = "mapspace: {factors: imperfect, loops: {MAC: {order: [K]}}}\n";

TEST_F(CheckCommand, SaysFirstWhatItHasVerified) {
  prove("mapspace: {tiling: even}\n");
  EXPECT_EQ(run("check proof.yaml"), 0);
  EXPECT_EQ(said(), R"(small_gemm on teaching: the proof holds
operands 8 b, outputs 32 b, sums 32 b
claim: no mapping is better than 9664 pJ, and the one in the file has that value
verified: the claim; the mapping and its cost; its counts, by simulation; the number of mappings, 1292179
not verified: the arguments by which the search found its bounds; the hashes of the input files; that mapsim 0.1.0 wrote the file
objective: energy
rules:
  tiling: even
  factors: perfect

how it was checked:
  the mapping lies in the mapspace, fits, and costs what is claimed; a simulation gives the same counts
  the mapspace has the stated number of mappings, in 27 spatial unrollings
  no unrolling has a better mapping: a closed-form bound shows it for 27, the completion
  bound for 0, and a label search for 0
checked in T; states: 0; labels: 0
)");
}

// The count of imperfect factors under rules for loops is beyond the checker.
TEST_F(CheckCommand, SaysThatItHasNotVerifiedACountThatIsBeyondIt) {
  prove(kRuled);
  forge_count("12345");
  EXPECT_EQ(run("check proof.yaml --max-steps 1"), 0);
  EXPECT_EQ(said(), R"(small_gemm on teaching: the proof holds
operands 8 b, outputs 32 b, sums 32 b
claim: no mapping is better than 9664 pJ, and the one in the file has that value
verified: the claim; the mapping and its cost
not verified: its counts, by simulation; the number of mappings, 12345; the arguments by which the search found its bounds; the hashes of the input files; that mapsim 0.1.0 wrote the file
objective: energy
rules:
  tiling: uneven
  factors: imperfect
  loops:
    - {order: [[K]]}

how it was checked:
  the mapping lies in the mapspace, fits, and costs what is claimed
  the mapspace has 160 spatial unrollings
  no unrolling has a better mapping: a closed-form bound shows it for 134, the completion
  bound for 26, and a label search for 0
checked in T; states: 37,908; labels: 0
)");
  EXPECT_EQ(run("check proof.yaml --json"), 0);
  const Json checked = Json::parse(file("stdout"))["check"];
  EXPECT_EQ(checked["verified"],
            (Json{"the claim", "the mapping and its cost", "its counts, by simulation"}));
  EXPECT_EQ(
      checked["unverified"],
      (Json{"the number of mappings, 12345", "the arguments by which the search found its bounds",
            "the hashes of the input files", "that mapsim 0.1.0 wrote the file"}));
  EXPECT_EQ(checked["counted"], false);
}

TEST_F(CheckCommand, RefusesAForgedCountWhereItCounts) {
  for (const char* const space :
       {"mapspace: {tiling: even}\n", "mapspace: {factors: imperfect}\n"}) {
    prove(space);
    forge_count("12345");
    EXPECT_EQ(run("check proof.yaml"), 1);
    EXPECT_THAT(
        said(),
        testing::MatchesRegex(
            "small_gemm on teaching: the proof does not hold\n"
            "operands 8 b, outputs 32 b, sums 32 b\n"
            "claim: no mapping is better than 9664 pJ, and the one in the file has that value\n"
            "verified: nothing\n(.|\n)*\nwhat is wrong:\n"
            "  the mapspace has [0-9]+ mappings, not 12345\n"));
    EXPECT_EQ(run("check proof.yaml --json"), 1);
    EXPECT_EQ(Json::parse(file("stdout"))["check"]["verified"], Json::array());
  }
}

TEST_F(CheckCommand, RefusesACountThatIsNoNumber) {
  prove(kRuled);
  std::string proof = file("proof.yaml");
  proof = std::regex_replace(proof, std::regex{"mapspace: \"[0-9]+\""}, "mapspace: \"many\"");
  proof.erase(proof.rfind("digest: "));
  write("proof.yaml", proof + fmt::format("digest: {:016x}\n", fnv1a(proof)));
  EXPECT_EQ(run("check proof.yaml"), 2);
  EXPECT_EQ(file("stderr"),
            "proof.yaml:6:11: mapspace: 'many' is neither a number of mappings nor 'not counted'\n"
            "mapspace: \"many\"\n"
            "          ^\n");
}

}  // namespace
}  // namespace mapsim::check_test
