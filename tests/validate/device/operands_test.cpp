// SPDX-License-Identifier: Apache-2.0
#include "validate/operands.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "validate/rounded_check.hpp"

namespace mapsim::operands_test {
namespace {

KernelSpec gemm(GpuPrecision precision, std::int64_t output, MatrixLayout a, MatrixLayout b) {
  KernelSpec spec;
  spec.problem = {17, 24, 40, 2, precision, Bytes{output}, a, b};
  return spec;
}

KernelSpec convolution() {
  KernelSpec spec;
  auto& conv = spec.conv.emplace();
  conv.n = 2;
  conv.h = 7;
  conv.w = 6;
  conv.c = 4;
  conv.k = 5;
  conv.r = 3;
  conv.s = 2;
  conv.p = 3;
  conv.q = 4;
  conv.stride = {2, 1};
  conv.dilation = {1, 2};
  conv.padding = {1, 0};
  conv.groups = 3;
  spec.problem = {24, 5, 24, 3, GpuPrecision::kF16, Bytes{4}};
  return spec;
}

// The definition, element by element, as 4 B floats, 2 B halves of bfloat16 are not needed.
std::vector<std::byte> product(const KernelSpec& spec, const WholeOperands& operands) {
  const OperandPlaces places{spec};
  const GemmProblem& p = spec.problem;
  std::vector<std::byte> c;
  c.resize(static_cast<std::size_t>(p.batch * p.m * p.n) * 4);
  for (std::int64_t h = 0; h < p.batch; ++h) {
    for (std::int64_t m = 0; m < p.m; ++m) {
      for (std::int64_t n = 0; n < p.n; ++n) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k) {
          if (const auto at = places.a(h, m, k)) {
            sum += static_cast<float>(operands.a[static_cast<std::size_t>(*at)] *
                                      operands.b[static_cast<std::size_t>(places.b(h, k, n))]);
          }
        }
        std::memcpy(c.data() + places.c(h, m, n) * 4, &sum, 4);
      }
    }
  }
  return c;
}

TEST(ExactCheck, TakesRightResultsAndFindsEverySingleError) {
  constexpr auto kRow = MatrixLayout::kRow;
  constexpr auto kColumn = MatrixLayout::kColumn;
  for (const KernelSpec& spec :
       {gemm(GpuPrecision::kF16, 4, kRow, kColumn), gemm(GpuPrecision::kF16, 4, kColumn, kRow),
        gemm(GpuPrecision::kBf16, 4, kRow, kRow), gemm(GpuPrecision::kTf32, 4, kColumn, kColumn),
        convolution()}) {
    const WholeOperands operands = whole_operands(spec, 3);
    const ExactCheck check{spec, operands, 4};
    std::vector<std::byte> c = product(spec, operands);
    EXPECT_EQ(check.wrong(c), std::nullopt);
    for (std::size_t i = 0; i < c.size(); i += 4) {
      float value;
      std::memcpy(&value, c.data() + i, 4);
      for (const float bad : {value + 1, value + 0.5F, NAN}) {
        std::memcpy(c.data() + i, &bad, 4);
        EXPECT_TRUE(check.wrong(c)) << i;
      }
      std::memcpy(c.data() + i, &value, 4);
    }
  }
}

TEST(ExactCheck, SaysWhichElementIsWrong) {
  const KernelSpec spec = gemm(GpuPrecision::kF16, 4, MatrixLayout::kRow, MatrixLayout::kColumn);
  WholeOperands ones = whole_operands(spec, 1);
  std::fill(ones.a.begin(), ones.a.end(), std::int8_t{1});
  std::fill(ones.b.begin(), ones.b.end(), std::int8_t{2});
  const ExactCheck check{spec, ones, 1};
  std::vector<std::byte> c = product(spec, ones);
  const float bad = 79;
  std::memcpy(c.data() + (1 * 17 * 24 + 5 * 24 + 7) * 4, &bad, 4);
  std::memcpy(c.data() + (1 * 17 * 24 + 6 * 24) * 4, &bad, 4);
  EXPECT_EQ(check.wrong(c), "wrong: C[1][5][7] is 79, not 80; 2 of 34 rows are wrong");
}

// What a sum may become in its type, with room: no sum of the test's size is rounded.
TEST(WholeOperands, KeepSumsExact) {
  struct Limit {
    GpuPrecision precision;
    std::int64_t output;
    double most;
  };
  for (const Limit& limit :
       {Limit{GpuPrecision::kBf16, 2, 256}, Limit{GpuPrecision::kF16, 2, 2048},
        Limit{GpuPrecision::kF16Acc16, 2, 2048}, Limit{GpuPrecision::kS8, 1, 127}}) {
    KernelSpec spec;
    spec.problem = {64, 64, 8192, 1, limit.precision, Bytes{limit.output}};
    const WholeOperands operands = whole_operands(spec, 5);
    double most = 0;
    for (std::int64_t m = 0; m < 64; ++m) {
      for (std::int64_t n = 0; n < 64; ++n) {
        double sum = 0;
        for (std::int64_t k = 0; k < 8192; ++k) {
          sum += operands.a[static_cast<std::size_t>(m * 8192 + k)] *
                 operands.b[static_cast<std::size_t>(n * 8192 + k)];
        }
        most = std::max(most, std::abs(sum));
      }
    }
    EXPECT_LE(most, limit.most) << to_string(limit.precision);
    EXPECT_GE(most, limit.most / 16) << to_string(limit.precision);  // and is not nothing
  }
}

TEST(Encoded, ReadsBackAsTheSameNumbers) {
  const std::vector<std::int8_t> values{-4, -3, -2, -1, 0, 1, 2, 3, 4};
  for (const GpuPrecision precision :
       {GpuPrecision::kF16, GpuPrecision::kBf16, GpuPrecision::kTf32, GpuPrecision::kF64}) {
    const std::vector<std::byte> bytes = encoded(values, precision);
    const std::int64_t size = operand_size(precision).count();
    ASSERT_EQ(std::ssize(bytes), size * std::ssize(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(decoded(bytes.data() + static_cast<std::int64_t>(i) * size, precision, size),
                values[i])
          << to_string(precision);
    }
  }
}

// A product whose operands and partial sums go through these.
using Through = std::function<double(double)>;
std::vector<std::byte> product(const KernelSpec& spec, const RandomOperands& operands,
                               const Through& operand, const Through& sum) {
  const OperandPlaces places{spec};
  const GemmProblem& p = spec.problem;
  const std::int64_t size = operand_size(p.precision).count();
  std::vector<std::byte> c;
  c.resize(static_cast<std::size_t>(p.batch * p.m * p.n) * 4);
  for (std::int64_t h = 0; h < p.batch; ++h) {
    for (std::int64_t m = 0; m < p.m; ++m) {
      for (std::int64_t n = 0; n < p.n; ++n) {
        double total = 0;
        for (std::int64_t k = 0; k < p.k; ++k) {
          if (const auto at = places.a(h, m, k)) {
            const std::int64_t b = places.b(h, k, n);
            total =
                sum(total + operand(decoded(operands.a.data() + *at * size, p.precision, size)) *
                                operand(decoded(operands.b.data() + b * size, p.precision, size)));
          }
        }
        const auto result = static_cast<float>(total);
        std::memcpy(c.data() + places.c(h, m, n) * 4, &result, 4);
      }
    }
  }
  return c;
}
// To so many bits of significand, to nearest.
double rounded(double value, int digits) {
  int exponent = 0;
  const double part = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(part, digits)), exponent - digits);
}
double same(double value) { return value; }

TEST(RoundedCheck, TakesSumsInSinglePrecisionAndNothingLess) {
  for (const KernelSpec& spec :
       {gemm(GpuPrecision::kF16, 4, MatrixLayout::kColumn, MatrixLayout::kRow), convolution()}) {
    const RandomOperands operands = sparse_operands(spec, 3);
    const RoundedCheck check{spec, operands.a, operands.b, 4};
    EXPECT_EQ(check.wrong(product(spec, operands, same, same)), std::nullopt);
    const auto single = [](double value) { return double{static_cast<float>(value)}; };
    EXPECT_EQ(check.wrong(product(spec, operands, same, single)), std::nullopt);
    const auto wrong =
        check.wrong(product(spec, operands, same, [](double v) { return rounded(v, 16); }));
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->substr(0, 9), "wrong: C[");
  }
}

TEST(RoundedCheck, WantsOperandsOfTf32Rounded) {
  const KernelSpec spec = gemm(GpuPrecision::kTf32, 4, MatrixLayout::kRow, MatrixLayout::kColumn);
  const RandomOperands operands = sparse_operands(spec, 3);
  const RoundedCheck check{spec, operands.a, operands.b, 4};
  const auto to_tf32 = [](double value) { return rounded(value, 11); };
  EXPECT_EQ(check.wrong(product(spec, operands, to_tf32, same)), std::nullopt);
  EXPECT_TRUE(check.wrong(product(spec, operands, same, same)));
}

TEST(SparseOperands, LeaveAboutSixtyFourProducts) {
  KernelSpec spec;
  spec.problem = {8, 8, 4096, 1, GpuPrecision::kBf16, Bytes{2}};
  const RandomOperands operands = sparse_operands(spec, 1);
  int left = 0;
  for (std::size_t i = 0; i < operands.a.size(); i += 2) {
    left += operands.a[i + 1] != std::byte{0} ? 1 : 0;
  }
  EXPECT_NEAR(left, 8 * 64, 100);
  EXPECT_EQ(std::count(operands.b.begin(), operands.b.end(), std::byte{0}) > 1000, false);
}

TEST(RandomOperand, IsBetweenAnEighthAndOne) {
  for (const GpuPrecision precision :
       {GpuPrecision::kF16, GpuPrecision::kBf16, GpuPrecision::kTf32, GpuPrecision::kF64}) {
    const std::int64_t size = operand_size(precision).count();
    const std::vector<std::byte> bytes = random_operand(1000, precision, 9);
    int negative = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
      const double value = decoded(bytes.data() + i * size, precision, size);
      EXPECT_GE(std::abs(value), 0.125);
      EXPECT_LT(std::abs(value), 1);
      negative += value < 0 ? 1 : 0;
    }
    EXPECT_NEAR(negative, 500, 80) << to_string(precision);
  }
}

}  // namespace
}  // namespace mapsim::operands_test
