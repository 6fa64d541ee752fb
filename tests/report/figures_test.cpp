// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace mapsim::figures_test {
namespace {

TEST(Grouped, PartsThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(115'605'504), "115,605,504");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(-999), "-999");
}

TEST(CountText, HasATenthWhereItMustAndTakesAnyNumber) {
  EXPECT_EQ(count_text(12.5), "12.5");
  EXPECT_EQ(count_text(1234), "1,234");
  EXPECT_EQ(count_text(1.7e308), "1.700e+308");
  EXPECT_EQ(count_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Scaled, ChoosesThePrefix) {
  EXPECT_EQ(scaled(0.00123456, "s"), "1.235 ms");
  EXPECT_EQ(scaled(12.5e9, "B/s"), "12.50 GB/s");
  EXPECT_EQ(scaled(0, "s"), "0 s");
  EXPECT_EQ(scaled(1e-15, "s"), "1.000e-15 s");
  EXPECT_EQ(scaled(std::numeric_limits<double>::infinity(), "B/s"), "unlimited");
}

TEST(Scaled, NeverPrintsAThousandOfTheSmallerUnit) { EXPECT_EQ(scaled(0.9999999, "s"), "1.000 s"); }

TEST(EnergyText, CountsPicojoules) { EXPECT_EQ(energy_text(Picojoules{1.5e9}), "1.500 mJ"); }

TEST(BytesText, UsesBinaryPrefixesAndBitsBelowAByte) {
  EXPECT_EQ(bytes_text(Bits{12}), "12 b");
  EXPECT_EQ(bytes_text(Bits{96}), "12 B");
  EXPECT_EQ(bytes_text(Bits{108 * 8192}), "108 KiB");
  EXPECT_EQ(bytes_text(Bits{8192 + 4096}), "1.5 KiB");
}

TEST(ShortDecimal, KeepsReadableNumbersWhole) {
  EXPECT_EQ(short_decimal("123456789012"), "123,456,789,012");
  EXPECT_EQ(short_decimal("12345678901234567890123"), "1.23e+22");
}

TEST(Ratio, LeavesTheExponentToExtremes) {
  EXPECT_EQ(ratio(10.724), "10.72");
  EXPECT_EQ(ratio(0.25), "0.250");
  EXPECT_EQ(ratio(0), "0.000");
  EXPECT_EQ(ratio(2e-5), "2.000e-05");
}

}  // namespace
}  // namespace mapsim::figures_test
