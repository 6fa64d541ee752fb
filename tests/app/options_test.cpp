// SPDX-License-Identifier: Apache-2.0
// What is the same in all commands: short options, words, where output goes, what --version says.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <set>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::options_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kConfigs = source_path("configs");
const std::string kGpuSearch =
    fmt::format("search {0}/arch/h200.yaml {0}/workloads/gemm/4096.yaml --top 2", kConfigs);

class EveryCommand : public InFolder {
 protected:
  int run(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", kProgram, arguments));
  }
  std::string out(const std::string& arguments) const {
    run(arguments);
    return file("stdout");
  }
  std::string problem(const std::string& arguments) const {
    EXPECT_EQ(run(arguments), 2);
    return file("stderr");
  }
};

TEST_F(EveryCommand, MeansTheSameByAShortOption) {
  std::set<std::string> options;
  const std::string page = out("--man");
  const std::regex names{R"(\\fB\\-(\w)\\fR, \\fB\\-\\-([\w-]+)\\fR|\\fB\\-(\w)\\fR)"};
  for (std::sregex_iterator at{page.begin(), page.end(), names}; at != std::sregex_iterator{};
       ++at) {
    options.insert((*at)[3].matched ? (*at)[3].str() : (*at)[1].str() + " " + (*at)[2].str());
  }
  EXPECT_THAT(options, ::testing::ElementsAre("h help", "o out"));
}

TEST_F(EveryCommand, KeepsWhatAnotherMeaningOfAnOptionWroteOnce) {
  write("old.csv", "measurements");
  EXPECT_THAT(problem("validate a.yaml b.yaml -o old.csv"), HasSubstr("--measurements FILE"));
  EXPECT_THAT(problem("calibrate m.csv --arch a.yaml -o old.yaml"), HasSubstr("--save-arch FILE"));
  EXPECT_EQ(file("old.csv"), "measurements");
}

TEST_F(EveryCommand, TakesOneValueOfAnOptionThatMayBeRepeated) {
  EXPECT_THAT(problem("import timeloop --set a=1 --set b=2 design.yaml -o in"),
              HasSubstr("design.yaml: "));
  EXPECT_THAT(problem("compare timeloop --set a design.yaml"), HasSubstr("'a' is not NAME=VALUE"));
}

TEST_F(EveryCommand, TakesAnInlineLayer) {
  write("none.csv", "");
  EXPECT_THAT(problem("validate h100_sxm"), HasSubstr("WORKLOAD is required: a file, a name"));
  EXPECT_THAT(problem("validate h100_sxm --gemm 64x64 --device replay=none.csv"),
              HasSubstr("expected MxNxK"));
  EXPECT_THAT(problem("validate h100_sxm gemm/4096 --gemm 64x64x64 --device replay=none.csv"),
              HasSubstr("the layer is given by --gemm already"));
}

TEST_F(EveryCommand, SaysWhatWasBuilt) {
  const std::string version = out("--version");
  EXPECT_THAT(version, ContainsRegex("^mapsim 0\\.[0-9.]+\ncommit (unknown|[0-9a-f]{12})\nwith "));
  EXPECT_THAT(version, ContainsRegex("\nwith(out)? .*ONNX models"));
  EXPECT_THAT(version, ContainsRegex("\nwith(out)? .*static linking"));
  EXPECT_THAT(version,
              ContainsRegex(*kMpirun != '\0' ? "\nwith [^\n]*MPI" : "\nwithout [^\n]*MPI"));
  const std::string commit = version.substr(version.find("commit ") + 7, 12);
  if (std::filesystem::exists(source_path(".git")) && !commit.starts_with("unknown")) {
    EXPECT_EQ(shell("git -C " + source_path("") + " cat-file -e " + commit), 0);
  }
}

// As in the .deb, which leaves the module out.
TEST_F(EveryCommand, SaysThatTheModuleForMpiIsNotThere) {
  std::filesystem::copy_file(kProgram, folder() / "alone");
  EXPECT_EQ(shell("./alone --version"), 0);
  EXPECT_THAT(file("stdout"),
              ContainsRegex(*kMpirun != '\0' ? "\nwithout [^\n]*MPI \\(mapsim_mpi.so, "
                                             : "\nwithout [^\n]*MPI"));
  EXPECT_THAT(file("stdout"), Not(ContainsRegex("\nwith [^\n]*MPI")));
  EXPECT_THAT(out("--version"), Not(HasSubstr("mapsim_mpi.so")));
}

TEST_F(EveryCommand, TakesTheUsualNamesOfPrecisions) {
  const std::string wanted = out(kGpuSearch + " --precision f16");
  EXPECT_THAT(wanted, HasSubstr("4096 x 4096 x 4096, f16"));
  EXPECT_EQ(out(kGpuSearch + " --precision fp16"), wanted);
  EXPECT_EQ(out(kGpuSearch + " --precision half"), wanted);
  EXPECT_THAT(problem(kGpuSearch + " --precision halve"),
              HasSubstr("no precision 'halve'; one of f64, "));
  // FP8 is no precision that kernels are generated in.
  EXPECT_THAT(problem(fmt::format("export cuda {0}/arch/h200.yaml {0}/workloads/gemm/4096.yaml "
                                  "--precision e4m3",
                                  kConfigs)),
              HasSubstr("no precision 'e4m3'; one of f64, tf32, f16, f16_acc16, bf16, s8\n"));
}

TEST_F(EveryCommand, SaysHowLongACycleIsWhereALimitIsShorter) {
  EXPECT_THAT(problem("search eyeriss alexnet/conv3 --max-latency 1ns"),
              HasSubstr("--max-latency: '1ns' is less than 1 cycle; a cycle is 5 ns\n"));
}

TEST_F(EveryCommand, NotesSizesInKilobits) {
  const std::string arch = contents(kConfigs + "/arch/teaching.yaml");
  const std::string layer = kConfigs + "/workloads/teaching/conv.yaml";
  std::smatch size;
  ASSERT_TRUE(std::regex_search(arch, size, std::regex{"capacity: [0-9.]+ KiB"}));
  write("bits.yaml", size.prefix().str() + "capacity: 320 kb" + size.suffix().str());
  run("roofline bits.yaml " + layer);
  EXPECT_THAT(file("stderr"),
              ContainsRegex("bits.yaml:[0-9]+:[0-9]+: .*capacity: note: b is bits, so '320 kb' is "
                            "40000 B; bytes are kB or KiB\n"));
  EXPECT_EQ(run("roofline " + kConfigs + "/arch/teaching.yaml " + layer), 0);
  EXPECT_EQ(file("stderr"), "");
}

// Options that mean something beside others only, and names of shipped files.
TEST_F(EveryCommand, RefusesOptionsThatItDoesNotUse) {
  const std::string eval = "eval teaching teaching/conv teaching_weight_stationary ";
  for (const char* option : {"--max-energy 1pJ", "--latency ramped", "--objective latency"}) {
    EXPECT_THAT(problem(eval + option), HasSubstr("requires --why")) << option;
  }
  EXPECT_EQ(run(eval + "--why --constraints even"), 0);
  EXPECT_THAT(out("export timeloop teaching teaching/conv teaching_weight_stationary"),
              ::testing::StartsWith("mapping:"));
}

TEST_F(EveryCommand, WritesNoPictureToATerminal) {
  const std::string show = fmt::format("'{}' show {}/arch/teaching.yaml", kProgram, kConfigs);
  const auto at_terminal = [&](const std::string& command) {
    return shell("script --quiet --return --command \"" + command + "\" /dev/null </dev/null");
  };
  EXPECT_EQ(at_terminal(show), 2);
  EXPECT_THAT(file("stdout"),
              HasSubstr("SVG, which no terminal shows; write it to a file with -o"));
  EXPECT_EQ(at_terminal(show + " -o machine.svg"), 0);
  EXPECT_EQ(shell(show + " -o machine.png"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("show writes SVG; rsvg-convert -f png converts it"));
  EXPECT_EQ(shell(show + " -o machine.html"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("with --html it writes a page"));
  EXPECT_THAT(file("machine.svg"), HasSubstr("<svg"));
  EXPECT_EQ(run("search " + kConfigs + "/arch/teaching.yaml " + kConfigs +
                "/workloads/teaching/conv.yaml --pareto --json -o front.json"),
            0);
  EXPECT_EQ(at_terminal(fmt::format("'{}' report front.json", kProgram)), 2);
  EXPECT_THAT(file("stdout"), HasSubstr("HTML, which no terminal shows"));
  EXPECT_EQ(shell(show), 0);
  EXPECT_THAT(file("stdout"), HasSubstr("<svg"));
}

TEST_F(EveryCommand, StartsWithoutMpi) {
  ASSERT_EQ(shell(fmt::format("ldd '{}'", kProgram)), 0);
  EXPECT_THAT(file("stdout"), Not(HasSubstr("libmpi")));
}

}  // namespace
}  // namespace mapsim::options_test
