// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::folder_files_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kData = source_path("tests/app/data/");

class FolderFiles : public InFolder {
 protected:
  FolderFiles() {
    const std::string design = contents(kData + "timeloop_gemm.yaml");
    const std::size_t problem = design.find("problem:"), mapping = design.find("mapping:");
    arch_ = design.substr(0, problem);
    problem_ = design.substr(problem, mapping - problem);
    mapping_ = design.substr(mapping);
    for (const char* name : {"d", "d/arch", "d/prob", "d/output"}) {
      std::filesystem::create_directory(folder() / name);
    }
    write("d/arch/arch.yaml", arch_);
    write("d/prob/gemm.yaml", problem_);
    write("d/map.yaml", mapping_);
    write("d/output/old.yaml", problem_);  // what a tool wrote is no input
    write("d/README.md", "arch: not one\n");
  }
  int run(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", kProgram, arguments));
  }
  std::string arch_, problem_, mapping_;
};

TEST_F(FolderFiles, AreReadTogetherWhereThereIsOneOfEachKind) {
  ASSERT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"),
              HasSubstr("note: d: read as arch/arch.yaml prob/gemm.yaml map.yaml\n"));
  EXPECT_TRUE(std::filesystem::exists(folder() / "in/mapping.yaml"));
  ASSERT_EQ(run(fmt::format("compare timeloop d --stats {}timeloop_gemm.stats.txt", kData)), 0)
      << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("36 equal"));
}

// What they name is written, beside it and whole; the links stay.
TEST_F(FolderFiles, ThatAreLinksAreWrittenThrough) {
  write("d/answer.txt", "old");
  std::filesystem::create_symlink("answer.txt", folder() / "d/link.txt");
  std::filesystem::create_symlink("d/link.txt", folder() / "to_link.txt");
  std::filesystem::create_symlink("d/new.txt", folder() / "to_new.txt");
  for (const std::string place : {"to_link.txt", "to_new.txt"}) {
    ASSERT_EQ(run("show teaching -o " + place), 0) << file("stderr");
    EXPECT_TRUE(std::filesystem::is_symlink(folder() / place));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder() / "d/link.txt"));
  EXPECT_THAT(file("d/answer.txt"), HasSubstr("teaching"));
  EXPECT_EQ(file("d/answer.txt"), file("d/new.txt"));
}

TEST_F(FolderFiles, ThatAreOpenAlreadyAreWrittenOn) {
  ASSERT_EQ(shell(fmt::format("{{ echo first; '{}' show teaching -o /dev/stdout; echo last; }}",
                              kProgram)),
            0)
      << file("stderr");
  EXPECT_THAT(file("stdout"),
              AllOf(StartsWith("first\n"), HasSubstr("teaching"), EndsWith("last\n")));
}

// Two outputs, of which one names the other's file through a link.
TEST_F(FolderFiles, ThatAreNamedTwiceAreRefused) {
  std::filesystem::create_symlink("out.yaml", folder() / "link.yaml");
  EXPECT_EQ(run("search teaching alexnet/conv3 -o out.yaml --certificate link.yaml"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("would be written over"));
}

TEST_F(FolderFiles, OfAKindThatIsGivenAreLeftOut) {
  write("d/prob/other.yaml", problem_);
  ASSERT_EQ(run("import timeloop d d/prob/other.yaml -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("note: d: read as arch/arch.yaml map.yaml\n"));
}

// Energies in a folder beside are those of another design.
TEST_F(FolderFiles, OfAnotherDesignAreNotPaired) {
  for (const char* name : {"d/arch/one", "d/arch/two"}) {
    std::filesystem::create_directory(folder() / name);
    write(std::string{name} + "/arch.yaml", arch_);
  }
  std::filesystem::remove(folder() / "d/arch/arch.yaml");
  write("d/arch/two/ERT.yaml", "ERT: {version: 0.4, tables: []}\n");
  ASSERT_EQ(run("import timeloop d -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("energies (ERT) (1): d/arch/two/ERT.yaml\n"));
  EXPECT_THAT(
      file("stderr"),
      HasSubstr("import timeloop d/arch/one/arch.yaml d/prob/gemm.yaml d/map.yaml -o in\n"));
}

// Accelergy writes areas beside energies, and both may lie among what a tool wrote.
TEST_F(FolderFiles, OfEnergiesComeWithTheirAreas) {
  const std::size_t table = arch_.find("ERT:");
  ASSERT_NE(table, std::string::npos);
  write("d/arch/arch.yaml", arch_.substr(0, table));
  write("d/output/timeloop-model.ERT.yaml", arch_.substr(table));
  ASSERT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("note: no energies were read; --ert FILE takes a table, as "
                                        "the tool wrote it to d/output/timeloop-model.ERT.yaml\n"));
  ASSERT_EQ(run("import timeloop d --ert d/output/timeloop-model.ERT.yaml -o in"), 0);
  EXPECT_THAT(file("stdout"), Not(HasSubstr("no energies were read")));
  write("d/arch/timeloop-model.ERT.yaml", arch_.substr(table));
  write("d/arch/timeloop-model.ART.yaml", "ART: {version: 0.4, tables: [{name: RF, area: 7}]}\n");
  ASSERT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("read as arch/arch.yaml arch/timeloop-model.ERT.yaml "
                                        "arch/timeloop-model.ART.yaml prob/gemm.yaml map.yaml\n"));
  ASSERT_EQ(run("import timeloop d --ert d/output/timeloop-model.ERT.yaml -o in"), 0)
      << file("stderr");
  write("d/timeloop-mapper.ERT.yaml", arch_.substr(table));
  ASSERT_EQ(run("import timeloop d -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("several tables of energies lie about a design"));
}

// What a mapper minimises is what the search is to minimise.
TEST_F(FolderFiles, SayWhatTheirMapperMinimises) {
  std::filesystem::remove(folder() / "d/map.yaml");
  const auto next = [this](const std::string& metrics) {
    write("d/mapper.yaml", "mapper: {algorithm: random, " + metrics + "}\n");
    EXPECT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
    const std::string out = file("stdout");
    return out.substr(out.find("next: "));
  };
  const std::string command =
      "next: mapsim search in/arch.yaml in/workload.yaml --constraints in/constraints.yaml";
  EXPECT_EQ(next("optimization_metrics: [delay, energy]"),
            command + " --objective latency,energy\n");
  EXPECT_EQ(next("optimization-metrics: [edp]"), command + " --objective edp\n");
  EXPECT_EQ(next("optimization_metric: energy"), command + "\n");
  EXPECT_EQ(next("timeout: 100"), command + " --objective edp\n");
  EXPECT_EQ(next("optimization_metrics: [last-level-accesses, energy]"), command + "\n");
  EXPECT_THAT(file("stdout"),
              HasSubstr("note: optimization metrics last-level-accesses, energy: the "
                        "first has no counterpart"));
}

// The second architecture has no ERT's storage, so that it cannot be read.
TEST_F(FolderFiles, AreNamedWithCommandsThatWorkWhereThereAreSeveral) {
  write("d/arch/broken.yaml", "arch: {storage: []}\n");
  write("d/prob/other.yaml", problem_);
  ASSERT_EQ(run("import timeloop d -o in"), 2);
  EXPECT_EQ(file("stderr"),
            "mapsim: d has several files of a kind; name those that belong together:\n"
            "  architecture (2): d/arch/arch.yaml d/arch/broken.yaml\n"
            "  problem (2): d/prob/gemm.yaml d/prob/other.yaml\n"
            "  mapping (1): d/map.yaml\n"
            "for example\n"
            "  mapsim import timeloop d/arch/arch.yaml d/prob/gemm.yaml d/map.yaml -o in\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "in"));
  EXPECT_EQ(run("import timeloop d/arch/arch.yaml d/prob/gemm.yaml d/map.yaml -o in"), 0);
  ASSERT_EQ(run("compare timeloop d --stats s.txt"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("  mapsim compare timeloop d/arch/arch.yaml "
                                        "d/prob/gemm.yaml d/map.yaml --stats s.txt\n"));
}

TEST_F(FolderFiles, HaveAnErrorWhereNoneIsOfTheTool) {
  ASSERT_EQ(run("import zigzag d -o in"), 2);
  EXPECT_EQ(file("stderr"), "mapsim: d has no file that 'import zigzag' reads\n");
}

// A design that has or includes its parts: those beside it are not read a second time.
TEST_F(FolderFiles, OfADesignAreItsOwn) {
  write("d/top.yaml.jinja",
        "arch: {{include('arch/arch.yaml', 'arch')}}\n"
        "ERT: {{include('arch/arch.yaml', 'ERT')}}\n"
        "problem: {{include('prob/gemm.yaml', 'problem')}}\n");
  std::filesystem::create_directory(folder() / "d/elsewhere");
  write("d/elsewhere/map.yaml", mapping_);
  ASSERT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("note: d: read as top.yaml.jinja map.yaml\n"));
  EXPECT_THAT(file("stdout"), Not(HasSubstr("does not name it")));
  write("d/rules.yaml", "mapspace_constraints: {targets: []}\n");
  ASSERT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("note: d/rules.yaml: top.yaml.jinja does not name it"));
}

// What a comment says includes nothing.
TEST_F(FolderFiles, AreReadTogetherWhateverTheirCommentsSay) {
  write("d/arch/arch.yaml", "# does not include a problem\n" + arch_);
  ASSERT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("prob/gemm.yaml"));
}

// A template that needs a name is answered with what it may name.
TEST_F(FolderFiles, OfATemplateSayWhichArchitecturesItMayName) {
  write("d/top.yaml.jinja",
        "arch: {{include(kind ~ '/arch.yaml', 'arch')}}\n"
        "ERT: {{include(kind ~ '/arch.yaml', 'ERT')}}\n"
        "problem: {{include('prob/gemm.yaml', 'problem')}}\n");
  ASSERT_EQ(run("import timeloop d -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("'kind' has no value; --set kind=VALUE gives it one\n"
                                        "  architectures (1): d/arch/arch.yaml\n"));
  EXPECT_EQ(run("import timeloop d --set kind=arch -o in"), 0) << file("stderr");
  write("d/top.yaml.jinja",
        "arch: {{include('arch/arch.yaml', 'arch')}}\nmapping: [{target: , type: temporal}]\n"
        "problem: {{include('prob/gemm.yaml', 'problem')}}\n");
  ASSERT_EQ(run("import timeloop d -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("has no value"));  // of a key: no template asks for it
  EXPECT_THAT(file("stderr"), Not(HasSubstr("architectures (")));
}

TEST_F(FolderFiles, TakeSettingsOnlyWhereTemplatesAreRead) {
  for (const std::string format : {"zigzag", "scalesim", "onnx", "gpu-table"}) {
    ASSERT_EQ(run("import " + format + " d --set kind=arch -o in"), 2);
    EXPECT_EQ(file("stderr"), "mapsim: --set: only for import timeloop, import accelforge\n");
  }
}

TEST_F(FolderFiles, AreComparedWithStatisticsThatTheErrorNames) {
  ASSERT_EQ(run("compare timeloop d"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("--stats FILE is required. timeloop-model"));
  EXPECT_THAT(file("stderr"), HasSubstr("(timeloop-model.stats.txt, timeloop-mapper.stats.txt)"));
}

// A folder of several designs is none, though one of them is a file of its own.
TEST_F(FolderFiles, OfSeveralDesignsAreNotOne) {
  std::filesystem::create_directory(folder() / "d/whole");
  std::filesystem::create_directory(folder() / "d/whole/output");
  write("d/whole/design.yaml", arch_ + problem_);
  write("d/whole/output/timeloop-model.ERT.yaml", arch_.substr(arch_.find("ERT:")));
  ASSERT_EQ(run("import timeloop d -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("  design (1): d/whole/design.yaml\n"
                                        "  architecture (1): d/arch/arch.yaml\n"));
  std::filesystem::remove_all(folder() / "d/whole/design.yaml");
  write("d/arch/arch.yaml", arch_.substr(0, arch_.find("ERT:")));
  ASSERT_EQ(run("import timeloop d/arch d/prob -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), Not(HasSubstr("no energies were read")));
  ASSERT_EQ(run("import timeloop d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), Not(HasSubstr("d/whole/output")));
}

// What a design includes is named as the user would name it.
TEST_F(FolderFiles, ThatAreIncludedAreNamedFromWhereTheUserIs) {
  write("d/arch/arch.yaml", arch_ + "mapper: {algorithm: random}\n");
  write("d/top.yaml", "{{include_text('arch/arch.yaml')}}\n");
  for (const std::string& from : {std::string{"d/"}, (folder() / "d/").string()}) {
    ASSERT_EQ(run("import timeloop " + from + "top.yaml -o in"), 0) << file("stderr");
    EXPECT_THAT(file("stdout"),
                HasSubstr("mapper, all but its metrics (" + from + "arch/arch.yaml:12)"));
  }
  write("d/arch/arch.yaml", arch_ + "mapping: {{size}}\n");
  ASSERT_EQ(run("import timeloop d/top.yaml -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("d/arch/arch.yaml:"));
  EXPECT_THAT(file("stderr"), Not(HasSubstr(folder().string())));
}

TEST_F(FolderFiles, OfOtherToolsAreFoundToo) {
  std::filesystem::copy_file(kData + "zigzag_machine.yaml", folder() / "d/machine.yaml");
  std::filesystem::copy_file(kData + "zigzag_result.json", folder() / "d/result.json");
  ASSERT_EQ(run("import zigzag d -o in"), 0) << file("stderr");
  EXPECT_THAT(file("stdout"), HasSubstr("note: d: read as machine.yaml result.json\n"));
  write("d/array.cfg",
        "[general]\nrun_name = small\n[architecture_presets]\nArrayHeight: 8\nArrayWidth: 8\n"
        "IfmapSramSzkB: 64\nFilterSramSzkB: 64\nOfmapSramSzkB: 64\nIfmapOffset: 0\n"
        "FilterOffset: 10000000\nOfmapOffset: 20000000\nDataflow: ws\nBandwidth: 10\n"
        "[run_presets]\nInterfaceBandwidth: CALC\n");
  write("d/net.csv", "Layer, M, N, K,\ngemm, 8, 8, 8,\n");
  ASSERT_EQ(run("import scalesim d -o in"), 0) << file("stderr");
  write("d/second.csv", "Layer, M, N, K,\nbroken, 8\n");
  ASSERT_EQ(run("import scalesim d -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("  mapsim import scalesim d/array.cfg d/net.csv -o in\n"));
  EXPECT_THAT(file("stderr"), Not(HasSubstr("d/array.cfg d/second.csv")));
  write("d/forge.yaml",
        "arch:\n  nodes:\n  - !Memory {name: M, size: inf, actions: [{name: read, energy: 1, "
        "latency: 0}, {name: write, energy: 1, latency: 0}]}\n"
        "  - !Compute {name: C, actions: [{name: compute, energy: 1, latency: 1e-9}]}\n");
  ASSERT_EQ(run("import accelforge d -o in"), 2);
  EXPECT_THAT(file("stderr"), HasSubstr("  mapsim import accelforge d/forge.yaml "));
}

}  // namespace
}  // namespace mapsim::folder_files_test
