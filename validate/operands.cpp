// SPDX-License-Identifier: Apache-2.0
#include "validate/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/arithmetic.hpp"
#include "core/rng.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kLargest = 4;  // magnitude of an operand
constexpr double kDeviations = 8;     // that a sum may be away from zero: 1e-15 are further

std::size_t place(std::int64_t index) { return static_cast<std::size_t>(index); }

// The whole numbers up to this are all exact in the sums and in what is stored.
double exact_limit(const GemmProblem& problem) {
  const bool narrow = problem.output == Bytes{2};
  switch (problem.precision) {
    case GpuPrecision::kBf16:
      return narrow ? 256 : 0x1p24;
    case GpuPrecision::kF16:
      return narrow ? 2048 : 0x1p24;
    case GpuPrecision::kF16Acc16:
      return 2048;
    case GpuPrecision::kS8:
      return problem.output == Bytes{1} ? 127 : 0x1p30;
    case GpuPrecision::kF64:
      return problem.output == Bytes{8} ? 0x1p50 : 0x1p24;
    case GpuPrecision::kF32:
    case GpuPrecision::kTf32:
    case GpuPrecision::kFp8:
      break;
  }
  return 0x1p24;
}

// Values from -largest to largest, zero instead with probability 1 - density.
struct ValueRange {
  std::int64_t largest = 1;
  double density = 1;
};
ValueRange value_range(const GemmProblem& problem) {
  const double limit = exact_limit(problem) / kDeviations;
  ValueRange range;
  for (range.largest = kLargest; range.largest > 1; --range.largest) {
    const double variance = real(range.largest * (range.largest + 1)) / 3;  // of one value
    if (std::sqrt(real(problem.k)) * variance <= limit) {
      return range;
    }
  }
  range.density = std::min(1.0, limit / (std::sqrt(real(problem.k)) * 2 / 3));
  return range;
}

std::vector<std::int8_t> draw(std::int64_t elements, const ValueRange& range, Rng& rng) {
  const auto values = static_cast<std::uint64_t>(2 * range.largest + 1);
  const auto kept = static_cast<std::uint64_t>(range.density * 65536);
  std::vector<std::int8_t> result;
  result.resize(place(elements));
  for (std::int8_t& value : result) {
    const std::uint64_t bits = rng.next();
    if ((bits & 0xFFFF) < kept) {
      value = static_cast<std::int8_t>(static_cast<std::int64_t>((bits >> 16) % values) -
                                       range.largest);
    }
  }
  return result;
}

std::uint16_t half_of(std::int8_t value) {
  // |value| <= 4: 0, 1, 2, 3, 4 in binary16.
  constexpr std::array<std::uint16_t, 5> kHalves{0, 0x3C00, 0x4000, 0x4200, 0x4400};
  const auto sign = static_cast<std::uint16_t>(value < 0 ? 0x8000 : 0);
  return static_cast<std::uint16_t>(sign | kHalves[place(std::abs(value))]);
}

double value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

// By a table: results have tens of millions of elements.
double from_half(std::uint16_t bits) {
  static const std::vector<float> kValues = [] {
    std::vector<float> values;
    for (std::uint32_t i = 0; i <= 0xFFFF; ++i) {
      values.push_back(static_cast<float>(value_of_half(static_cast<std::uint16_t>(i))));
    }
    return values;
  }();
  return double{kValues[bits]};
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T, class Make>
std::vector<std::byte> packed(const std::vector<std::int8_t>& values, const Make& make) {
  std::vector<std::byte> bytes;
  bytes.resize(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = make(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
  }
  return bytes;
}

template <class T, class Make>
std::vector<std::byte> random_bits(std::int64_t elements, Rng& rng, const Make& make) {
  std::vector<std::byte> bytes;
  bytes.resize(place(elements) * sizeof(T));
  for (std::size_t i = 0; i < place(elements); ++i) {
    const T value = make(rng.next());
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof value);
  }
  return bytes;
}

}  // namespace

WholeOperands whole_operands(const KernelSpec& spec, std::uint64_t seed) {
  const KernelBuffers buffers = kernel_buffers(spec);
  const std::int64_t size = operand_size(spec.problem.precision).count();
  const ValueRange range = value_range(spec.problem);
  Rng rng{seed};
  WholeOperands operands;
  operands.a = draw(buffers.a.count() / size, range, rng);
  operands.b = draw(buffers.b.count() / size, range, rng);
  return operands;
}

std::vector<std::byte> encoded(const std::vector<std::int8_t>& values, GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kF16:
    case GpuPrecision::kF16Acc16:
      return packed<std::uint16_t>(values, half_of);
    case GpuPrecision::kBf16:
      return packed<std::uint16_t>(values, [](std::int8_t value) {
        return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(float{1} * value) >> 16);
      });
    case GpuPrecision::kF64:
      return packed<double>(values, [](std::int8_t value) { return double{1} * value; });
    case GpuPrecision::kF32:
    case GpuPrecision::kTf32:
      return packed<float>(values, [](std::int8_t value) { return float{1} * value; });
    case GpuPrecision::kS8:
    case GpuPrecision::kFp8:
      break;
  }
  return packed<std::int8_t>(values, [](std::int8_t value) { return value; });
}

// Exponents of [1/8, 1): three below that of 1.
std::vector<std::byte> random_operand(std::int64_t elements, GpuPrecision precision,
                                      std::uint64_t seed) {
  Rng rng{seed};
  const auto below_one = [](std::uint64_t bits, std::uint64_t bias) {
    return bias - 3 + (bits >> 60) % 3;
  };
  switch (precision) {
    case GpuPrecision::kF16:
    case GpuPrecision::kF16Acc16:
      return random_bits<std::uint16_t>(elements, rng, [&](std::uint64_t bits) {
        return static_cast<std::uint16_t>((bits & 0x83FF) | below_one(bits, 15) << 10);
      });
    case GpuPrecision::kBf16:
      return random_bits<std::uint16_t>(elements, rng, [&](std::uint64_t bits) {
        return static_cast<std::uint16_t>((bits & 0x807F) | below_one(bits, 127) << 7);
      });
    case GpuPrecision::kF64:
      return random_bits<std::uint64_t>(elements, rng, [&](std::uint64_t bits) {
        return (bits & 0x800FFFFFFFFFFFFF) | below_one(bits << 1, 1023) << 52;
      });
    case GpuPrecision::kF32:
    case GpuPrecision::kTf32:
      return random_bits<std::uint32_t>(elements, rng, [&](std::uint64_t bits) {
        return static_cast<std::uint32_t>((bits & 0x807FFFFF) | below_one(bits, 127) << 23);
      });
    case GpuPrecision::kS8:
    case GpuPrecision::kFp8:
      break;
  }
  return random_bits<std::uint8_t>(
      elements, rng, [](std::uint64_t bits) { return static_cast<std::uint8_t>(bits); });
}

std::optional<std::int64_t> OperandPlaces::a(std::int64_t batch, std::int64_t m,
                                             std::int64_t k) const {
  const GemmProblem& p = spec_->problem;
  if (!spec_->conv) {
    const std::int64_t run = run_of_a(p);
    return p.a == MatrixLayout::kRow ? (batch * p.m + m) * run + k : (batch * p.k + k) * run + m;
  }
  const auto& conv = *spec_->conv;
  const std::int64_t c = k % conv.c;
  const std::int64_t s = k / conv.c % conv.s;
  const std::int64_t r = k / conv.c / conv.s;
  const std::int64_t q = m % conv.q;
  const std::int64_t row = m / conv.q % conv.p;
  const std::int64_t n = m / conv.q / conv.p;
  const std::int64_t y = row * conv.stride[0] - conv.padding[0] + r * conv.dilation[0];
  const std::int64_t x = q * conv.stride[1] - conv.padding[1] + s * conv.dilation[1];
  if (y < 0 || y >= conv.h || x < 0 || x >= conv.w) {
    return std::nullopt;
  }
  return ((n * conv.h + y) * conv.w + x) * conv.groups * conv.c + batch * conv.c + c;
}

std::int64_t OperandPlaces::b(std::int64_t batch, std::int64_t k, std::int64_t n) const {
  const GemmProblem& p = spec_->problem;
  if (spec_->conv) {
    return (batch * p.n + n) * p.k + k;  // [groups k][r][s][c]
  }
  const std::int64_t run = run_of_b(p);
  return p.b == MatrixLayout::kColumn ? (batch * p.n + n) * run + k : (batch * p.k + k) * run + n;
}

std::int64_t OperandPlaces::c(std::int64_t batch, std::int64_t m, std::int64_t n) const {
  const GemmProblem& p = spec_->problem;
  return spec_->conv ? (m * p.batch + batch) * p.n + n : (batch * p.m + m) * p.n + n;
}

ExactCheck::ExactCheck(const KernelSpec& spec, const WholeOperands& operands, std::uint64_t seed)
    : spec_{spec}, operands_{&operands} {
  const GemmProblem& p = spec_.problem;
  const OperandPlaces places{spec_};
  Rng rng{seed};
  for (std::int64_t n = 0; n < p.n; ++n) {
    x_.push_back(1 + rng.below(1 << 20));
  }
  const auto value = [](std::int8_t small) {
    return static_cast<std::uint64_t>(std::int64_t{small});
  };
  // Both products walk memory in its order where that differs from the order of the indices.
  const bool b_by_columns = spec_.conv || p.b == MatrixLayout::kColumn;
  const bool a_by_columns = !spec_.conv && p.a == MatrixLayout::kColumn;
  std::vector<std::uint64_t> y;
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    y.assign(place(p.k), 0);
    for (std::int64_t i = 0; i < (b_by_columns ? p.n : p.k); ++i) {
      for (std::int64_t j = 0; j < (b_by_columns ? p.k : p.n); ++j) {
        const std::int64_t k = b_by_columns ? j : i;
        const std::int64_t n = b_by_columns ? i : j;
        y[place(k)] += value(operands.b[place(places.b(batch, k, n))]) * x_[place(n)];
      }
    }
    const std::size_t first = z_.size();
    z_.resize(first + place(p.m), 0);
    for (std::int64_t i = 0; i < (a_by_columns ? p.k : p.m); ++i) {
      for (std::int64_t j = 0; j < (a_by_columns ? p.m : p.k); ++j) {
        const std::int64_t m = a_by_columns ? j : i;
        const std::int64_t k = a_by_columns ? i : j;
        if (const auto at = places.a(batch, m, k)) {
          z_[first + place(m)] += value(operands.a[place(*at)]) * y[place(k)];
        }
      }
    }
  }
}

std::optional<std::string> ExactCheck::wrong(const std::vector<std::byte>& c) const {
  const GemmProblem& p = spec_.problem;
  const OperandPlaces places{spec_};
  const std::int64_t size = p.output.count();
  std::int64_t rows = 0;
  std::int64_t first = 0;
  for (std::int64_t row = 0; row < p.batch * p.m; ++row) {
    const std::byte* at = c.data() + places.c(row / p.m, row % p.m, 0) * size;
    std::uint64_t sum = 0;
    bool is_whole = true;
    for (std::int64_t n = 0; n < p.n; ++n) {
      const double value = decoded(at + n * size, p.precision, size);
      if (!(std::abs(value) < 0x1p52) || value != std::trunc(value)) {
        is_whole = false;
        break;
      }
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) * x_[place(n)];
    }
    if (!is_whole || sum != z_[place(row)]) {
      first = rows++ == 0 ? row : first;
    }
  }
  return rows == 0 ? std::nullopt : std::optional{first_wrong(c, first / p.m, first % p.m, rows)};
}

std::string ExactCheck::first_wrong(const std::vector<std::byte>& c, std::int64_t batch,
                                    std::int64_t m, std::int64_t rows) const {
  const GemmProblem& p = spec_.problem;
  const OperandPlaces places{spec_};
  const std::string of = fmt::format("{} of {} rows are wrong", rows, p.batch * p.m);
  for (std::int64_t n = 0; n < p.n; ++n) {
    std::int64_t expected = 0;
    for (std::int64_t k = 0; k < p.k; ++k) {
      if (const auto at = places.a(batch, m, k)) {
        expected += operands_->a[place(*at)] * operands_->b[place(places.b(batch, k, n))];
      }
    }
    const double found =
        decoded(c.data() + places.c(batch, m, n) * p.output.count(), p.precision, p.output.count());
    if (found != real(expected)) {
      return fmt::format("wrong: C[{}][{}][{}] is {}, not {}; {}", batch, m, n, found, expected,
                         of);
    }
  }
  return fmt::format("wrong: row {} of batch {}; {}", m, batch, of);
}

double decoded(const std::byte* element, GpuPrecision precision, std::int64_t size) {
  if (precision == GpuPrecision::kS8) {
    return size == 4 ? double{1} * load<std::int32_t>(element)
                     : double{1} * load<std::int8_t>(element);
  }
  switch (size) {
    case 2:
      return precision == GpuPrecision::kBf16
                 ? double{std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(element)} << 16)}
                 : from_half(load<std::uint16_t>(element));
    case 8:
      return load<double>(element);
    default:
      return double{load<float>(element)};
  }
}

}  // namespace mapsim
