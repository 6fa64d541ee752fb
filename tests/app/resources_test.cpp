// SPDX-License-Identifier: Apache-2.0
// What a program does whose memory or threads are limited. Under a sanitizer it has an allocator,
// and a use of addresses, of its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::resources_test {
namespace {

using testing::HasSubstr;

const std::string kConfigs = std::string{kSource} + "/configs/";

class Limited : public InFolder {
 protected:
  void SetUp() override {
    if (kSanitized) {
      GTEST_SKIP() << "a sanitizer has its own allocator";
    }
    write("gemm.yaml", "name: tiny\ngemm: {m: 4, n: 4, k: 8}\n");
    write("campaign.yaml", fmt::format("name: buffers\narchitectures:\n"
                                       "  - file: {}arch/teaching.yaml\n    grid:\n"
                                       "      nodes.Buffer.capacity: [64 B, 96 B, 128 B, 192 B]\n"
                                       "workloads: [gemm.yaml]\nobjectives: [energy, edp]\n",
                                       kConfigs));
  }
  // The exit code of the program after words for the shell.
  int run(const std::string& before, const std::string& words) {
    return shell(fmt::format("{} timeout 60 '{}' {}", before, kProgram, words));
  }
  // The same where the n-th start of a thread fails, or all from then on.
  int run_without_thread(int n, bool all, const std::string& words) {
    return shell(
        fmt::format("timeout 60 env MAPSIM_FAIL=thread MAPSIM_FAIL_AT={} {}MAPSIM_FAIL_COUNT=count "
                    "LD_PRELOAD='{}/tests/app/failing_calls.so' '{}' {}",
                    n, all ? "MAPSIM_FAIL_ON=1 " : "", kBuild, kProgram, words));
  }
  int threads() {  // that the last run started, or tried to
    const std::string counts = file("count");
    return std::atoi(counts.substr(counts.find("thread ") + 7).c_str());
  }
};

using OutOfMemory = Limited;
using TooFewThreads = Limited;

// A text that is read grows by doubling. With 200 MiB of addresses, 60, 120 or 240 MiB are refused.
TEST_F(OutOfMemory, TellsWhatWasRefused) {
  write("big.json", "{" + std::string(150 << 20, ' '));
  EXPECT_EQ(run("ulimit -v 204800;", "report big.json -o page.html"), 1);
  EXPECT_THAT(file("stderr"),
              testing::MatchesRegex("mapsim: out of memory: needed about 0\\.(25|31|43) GiB\n"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "page.html"));
}

TEST_F(OutOfMemory, NamesTheOptionThatBoundsIt) {
  std::string layer = "name: wide\ngemm: [";
  for (int i = 0; i < 2'000'000; ++i) {
    layer += "a,";
  }
  write("wide.yaml", layer + "a]\n");
  EXPECT_EQ(run("ulimit -v 204800;", "search teaching wide.yaml"), 1);
  EXPECT_THAT(
      file("stderr"),
      testing::MatchesRegex("mapsim: out of memory: needed about 0\\.[0-9]+ GiB; bound it with "
                            "--memory, or narrow the space with --constraints\n"));
}

// Whichever thread does not start: there is an answer, the same one, or a message.
TEST_F(TooFewThreads, EndASweepWithAnAnswer) {
  ASSERT_EQ(run_without_thread(0, false, "sweep campaign.yaml --db whole.sqlite --threads 4"), 0);
  const int started = threads();
  ASSERT_GE(started, 5) << "four that work, and one that watches";
  for (int n = 1; n <= started; ++n) {
    for (const bool all : {false, true}) {
      const std::string database = fmt::format("{}{}.sqlite", n, all);
      const int code =
          run_without_thread(n, all, "sweep campaign.yaml --threads 4 --db " + database);
      ASSERT_THAT(code, testing::AnyOf(0, 1)) << n << ": " << file("stderr");
      EXPECT_THAT(file("stderr"), HasSubstr("(ulimit -u)")) << n;
      if (code == 0) {
        EXPECT_EQ(run("", "results --csv " + database), 0);
        EXPECT_THAT(file("stdout"), HasSubstr("optimal"));
      }
    }
  }
}

// OpenMP's runtime would end the program without an answer.
TEST_F(TooFewThreads, LeaveASearchWithThoseThereAre) {
  const std::string words = "search teaching gemm.yaml --threads 4";
  ASSERT_EQ(run("", words), 0);
  const std::string best = file("stdout");
  EXPECT_EQ(run_without_thread(3, true, words), 1) << "the one that watches has none either";
  EXPECT_THAT(file("stderr"),
              HasSubstr("mapsim: 2 of 4 threads: a limit on processes (ulimit -u)"));
  EXPECT_THAT(file("stderr"), HasSubstr("mapsim: no thread can be started: a limit"));
  EXPECT_EQ(run_without_thread(3, false, words), 0) << file("stderr");
  EXPECT_THAT(file("stderr"), HasSubstr("mapsim: 2 of 4 threads"));
  EXPECT_EQ(file("stdout").substr(0, file("stdout").find("searched in")),
            best.substr(0, best.find("searched in")));
}

TEST_F(TooFewThreads, IsNotSaidWhereOneIsEnough) {
  ASSERT_EQ(run("", "search teaching gemm.yaml --save-mapping map.yaml"), 0);
  for (const std::string words :
       {"eval teaching gemm.yaml map.yaml", "simulate teaching gemm.yaml map.yaml",
        "search teaching gemm.yaml --strategy exhaustive", "roofline teaching gemm.yaml"}) {
    run_without_thread(1, true, words + " --threads 4");
    EXPECT_THAT(file("stderr"), testing::Not(HasSubstr("of 4 threads"))) << words;
  }
  run_without_thread(1, true, "eval teaching gemm.yaml map.yaml --why --threads 4");
  EXPECT_THAT(file("stderr"), HasSubstr("mapsim: 1 of 4 threads"));
}

}  // namespace
}  // namespace mapsim::resources_test
