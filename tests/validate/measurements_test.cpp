// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements.hpp"

#include <gtest/gtest.h>

#include "core/rng.hpp"
#include "tests/support/bad_inputs.hpp"

namespace mapsim::measurements_test {
namespace {

GpuMeasurement random_measurement(Rng& rng) {
  const auto some = [&rng](std::uint64_t most) {
    return static_cast<std::int64_t>(1 + rng.below(most));
  };
  GpuMeasurement m;
  m.gpu = rng.below(2) == 0 ? "a \"quoted\", name" : "h200";
  m.driver = rng.below(2) == 0 ? "" : "570.1";
  m.clock = Hertz{rng.below(2) == 0 ? 0 : 1830e6};
  m.problem.m = some(9999);
  m.problem.n = some(9999);
  m.problem.k = some(9999);
  m.problem.batch = some(9);
  m.problem.precision = static_cast<GpuPrecision>(rng.below(kGpuPrecisions));
  m.problem.output = Bytes{some(8)};
  m.problem.a = static_cast<MatrixLayout>(rng.below(2));
  m.problem.b = static_cast<MatrixLayout>(rng.below(2));
  if (rng.below(3) == 0) {
    m.problem.stored_a = some(99999);
    m.problem.run_a = some(64);
    m.problem.run_b = some(64);
  }
  if (rng.below(3) > 0) {
    KernelChoice kernel;
    kernel.path = static_cast<GpuPath>(rng.below(4));
    kernel.warp = {some(64), some(64), 32};
    kernel.block = {kernel.warp.m * some(4), kernel.warp.n * some(4), 32};
    kernel.fragment = {some(16), some(16), some(16)};
    kernel.stages = some(5);
    kernel.split_k = some(32);
    kernel.raster = some(9) - 1;
    kernel.cluster = some(4);
    kernel.padding = some(9) - 1;
    if (rng.below(3) == 0) {
      kernel.simt = {some(8), some(8), some(32), some(32)};
    }
    if (rng.below(2) == 0) {
      kernel.registers = some(255);
      kernel.spilled_bytes = 0;
    }
    m.kernel = kernel;
    m.shared = Bytes{some(99999)};
  }
  m.median = Seconds{1e-3 * rng.uniform() + 1e-9};
  if (rng.below(2) == 0) {
    m.first_quartile = m.median;
    m.third_quartile = m.median * 1.01;
    m.runs = some(99);
  }
  m.origin = rng.below(2) == 0 ? "" : "somebody's kernel, tuned";
  return m;
}

TEST(Measurements, ReadBackAsTheyWereWritten) {
  Rng rng{7};
  std::vector<GpuMeasurement> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(random_measurement(rng));
  }
  const std::string text = measurements_header() + measurement_rows(all);
  EXPECT_EQ(parse_measurements(text, "m.csv"), all);
  // Rows that are added later are as good as any.
  EXPECT_EQ(parse_measurements(text + measurement_rows({all[0]}), "m.csv").size(), all.size() + 1);
}

TEST(Measurements, AreRefusedWithWhatIsWrong) {
  const auto text = [](const std::string& csv) {
    return error_text([&] { parse_measurements(csv, "m.csv"); });
  };
  EXPECT_EQ(text("m,n,k,latency_us\n1,2,3,4\n"),
            "m.csv:1:1: not a measurements file: the first line must be '# mapsim measurements 1'; "
            "tables of others come in by 'mapsim import gpu-table'\nm,n,k,latency_us\n^");
  const std::string head =
      "# mapsim measurements 1\ngpu,precision,m,n,k,batch,output_bytes,a,b,path,time_s,block_m\n";
  EXPECT_EQ(text(head + "h200,bf61,0,1,1,1,2,row,row,,x,\n"),
            "m.csv:3:6: precision: unknown 'bf61'; did you mean 'bf16'?\n"
            "h200,bf61,0,1,1,1,2,row,row,,x,\n     ^\n"
            "m.csv:3:11: m: '0' is not a whole number from 1 to 2147483648\n"
            "h200,bf61,0,1,1,1,2,row,row,,x,\n          ^\n"
            "m.csv:3:30: time_s: 'x' is not a number above zero\n"
            "h200,bf61,0,1,1,1,2,row,row,,x,\n                             ^");
  EXPECT_NE(text(head + "h200,f16,1,1,1,1,2,row,row,wmma,1,64\n")
                .find("m.csv:2:1: no column 'warp_m', which rows with a path need\n"),
            std::string::npos);
  EXPECT_NE(text(measurements_header() + "h200,,,,f16,1,1,1,1,2,row,row,wmma,64,64" +
                 std::string(33, ',') + "\n")
                .find("block_k: a value is missing\n"),
            std::string::npos);
  EXPECT_NE(text("# mapsim measurements 1\ngpu,precison\n").find("did you mean 'precision'?"),
            std::string::npos);
}

TEST(Measurements, SurviveDamage) {
  Rng rng{9};
  const std::string text =
      measurements_header() + measurement_rows({random_measurement(rng), random_measurement(rng)});
  const auto parse = [](const std::string& csv) { parse_measurements(csv, "m.csv"); };
  expect_survival(text, parse);
  expect_survival_of_cuts(text, parse);
}

}  // namespace
}  // namespace mapsim::measurements_test
