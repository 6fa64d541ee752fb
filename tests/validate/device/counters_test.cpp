// SPDX-License-Identifier: Apache-2.0
#include "validate/counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/gpu_load.hpp"
#include "core/diagnostic.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/build_paths.hpp"
#include "validate/candidates.hpp"
#include "validate/measurements.hpp"

namespace mapsim::counters_test {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(ParseCounters, ReadsTheRawPage) {
  const auto kernels = parse_counters(
      "==PROF== Connected to process 1\n"
      "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"Mbyte\",\"usecond\"\n"
      "\"0\",\"the name, with commas\",\"1,024.5\",\"33.5\"\n"
      "\"1\",\"other\",\"2\",\"n/a\"\n",
      "ncu.csv");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_NE(kernels[0].names.find("the name, with commas"), std::string::npos);
  EXPECT_THAT(kernels[0].metrics,
              UnorderedElementsAre(Pair("dram__bytes_read.sum", 1024.5e6),
                                   Pair("gpu__time_duration.sum", 33.5 * 1e-6)));
  EXPECT_THAT(kernels[1].metrics, UnorderedElementsAre(Pair("dram__bytes_read.sum", 2e6)));
}

TEST(ParseCounters, ReadsTheDetailsPage) {
  const auto kernels = parse_counters(
      "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"a\",\"dram__bytes_write.sum\",\"byte\",\"7\"\n"
      "\"0\",\"a\",\"launch__registers_per_thread\",\"register/thread\",\"96\"\n"
      "\"1\",\"b\",\"dram__bytes_write.sum\",\"Kbyte\",\"1.5\"\n",
      "ncu.csv");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].metrics.at("launch__registers_per_thread"), 96);
  EXPECT_EQ(kernels[1].metrics.at("dram__bytes_write.sum"), 1500);
}

TEST(ParseCounters, RefusesWhatIsNoTable) {
  try {
    parse_counters("hello\nworld\n", "ncu.csv");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string{error.what()}.substr(0, 66),
              "ncu.csv:1:1: no table of ncu: its header has ID and Kernel Name; w");
  }
}

// Whatever a page lacks, nothing is read beside its rows.
TEST(ParseCounters, SaysWhichColumnIsMissingAndWhichRowIsCut) {
  const std::string header =
      "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const std::string row = "\"0\",\"a\",\"dram__bytes_read.sum\",\"byte\",\"7\"\n";
  const auto text = [](const std::string& csv) {
    return error_text([&] { parse_counters(csv, "ncu.csv"); });
  };
  std::string renamed = header;
  renamed.replace(renamed.find("Metric Value"), 12, "M%tric Value");
  EXPECT_EQ(text(renamed + row), "ncu.csv:1:1: no column 'Metric Value'\n" + renamed + "^");
  EXPECT_EQ(text("==PROF== Connected\n" + header + row + "\"0\",\"a\"\n"),
            "ncu.csv:4:1: 2 cells; the header has 5\n\"0\",\"a\"\n^");
  EXPECT_EQ(text(header + "\"0\",\"a\n"),
            "ncu.csv:2:1: a quote is not closed on this line\n\"0\",\"a\n^");
  EXPECT_EQ(text(header + row + "a word of the program, or two\n"), "");
  EXPECT_THAT(text(""), testing::HasSubstr("no table of ncu"));
  EXPECT_TRUE(parse_counters(header, "ncu.csv").empty());
  EXPECT_EQ(parse_counters("ID,Kernel Name,a__b\n,,byte\n0,k,3\n", "t").at(0).metrics.at("a__b"),
            3);
  for (const std::string& page :
       {header + row + row, std::string{"\"ID\",\"Kernel Name\",\"a__b\"\n\"\",\"\",\"byte\"\n"
                                        "\"0\",\"k\",\"3\"\n"}}) {
    expect_survival_of_cuts(page, [](const std::string& csv) { parse_counters(csv, "t"); });
    expect_survival(page, [](const std::string& csv) { parse_counters(csv, "t"); });
  }
}

TEST(CompareCounters, SetsTheModelsOwnCountsBeside) {
  const Gpu gpu = load_gpu(source_path("configs/arch/h200.yaml"));
  GpuMeasurement row;
  row.gpu = "h200";
  row.problem = {4096, 4096, 4096, 1, GpuPrecision::kF16, Bytes{2}};
  row.kernel = fixed_tiles(gpu, row.problem).front();
  row.median = Seconds{300e-6};
  ValidationVerdict verdict = judge(gpu, std::vector{row}, {});
  const std::string what = measured_what(row);
  const auto profiled = parse_counters(
      "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\","
      "\"smsp__inst_executed_pipe_tensor.sum\"\n\"\",\"\",\"byte\",\"byte\",\"inst\"\n\"0\",\"" +
          what + "\",\"60e6\",\"30e6\",\"33554432\"\n",
      "ncu.csv");
  EXPECT_EQ(attach_counters(profiled, verdict), 1);
  const auto list = compare_counters(gpu, verdict.problems[0].kernels[0]);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].metric, "dram__bytes.sum");
  EXPECT_EQ(list[0].counted, 90e6);
  EXPECT_EQ(list[0].modelled, verdict.problems[0].kernels[0].estimate.dram_bytes);
  // 4096^3 MACs in instructions of 2048: as many as there are.
  EXPECT_EQ(list[1].modelled, 33554432);
}

// A program without NVTX: entries tell the kernels of one problem apart, but not the problems.
TEST(AttachCounters, KnowsKernelsByTheirEntriesWhereThereAreNoRanges) {
  const Gpu gpu = load_gpu(source_path("configs/arch/h200.yaml"));
  GpuMeasurement row;
  row.gpu = "h200";
  row.problem = {4096, 4096, 4096, 1, GpuPrecision::kF16, Bytes{2}};
  row.median = Seconds{300e-6};
  std::vector<GpuMeasurement> rows;
  for (const KernelChoice& kernel : fixed_tiles(gpu, row.problem)) {
    row.kernel = kernel;
    rows.push_back(row);
  }
  const std::string entry = kernel_entry({row.problem, *rows[1].kernel});
  const auto profiled = parse_counters(
      "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"\",\"\",\"byte\"\n"
      "\"0\",\"" +
          entry + "0\",\"1\"\n\"1\",\"" + entry + "(mapsim_kernel::Arguments)\",\"7\"\n",
      "ncu.csv");
  ValidationVerdict one = judge(gpu, rows, {});
  EXPECT_EQ(attach_counters(profiled, one), 1);
  for (const KernelVerdict& kernel : one.problems[0].kernels) {
    const bool is_it = *kernel.measurement.kernel == *rows[1].kernel;
    EXPECT_EQ(kernel.counters.size(), is_it ? 1U : 0U);
    EXPECT_TRUE(!is_it || kernel.counters.at("dram__bytes_read.sum") == 7);
  }
  rows[0].kernel = rows[1].kernel;
  rows[0].problem.m = 8192;
  ValidationVerdict two = judge(gpu, rows, {});
  EXPECT_EQ(attach_counters(profiled, two), 0);
}

}  // namespace
}  // namespace mapsim::counters_test
