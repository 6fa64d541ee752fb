// SPDX-License-Identifier: Apache-2.0
#include "validate/rounded_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/arithmetic.hpp"
#include "core/rng.hpp"
#include "validate/operands.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kProducts = 64;        // of a sum, about
constexpr std::int64_t kMostElements = 4096;  // of C
constexpr std::int64_t kLeastElements = 256;
constexpr std::int64_t kWork = std::int64_t{1} << 24;  // products on the CPU, about

// Unit roundoff of a format of `digits` bits of significand.
double unit(int digits) { return std::ldexp(1.0, -digits); }

double unit_of_sums(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kF64:
      return unit(53);
    case GpuPrecision::kF16Acc16:
      return unit(11);
    case GpuPrecision::kS8:
      return 0;
    case GpuPrecision::kF16:
    case GpuPrecision::kBf16:
    case GpuPrecision::kTf32:
    case GpuPrecision::kF32:
    case GpuPrecision::kFp8:
      break;
  }
  return unit(24);
}

double unit_of_output(const GemmProblem& problem) {
  if (problem.precision == GpuPrecision::kS8) {
    return 0;
  }
  switch (problem.output.count()) {
    case 2:
      return unit(problem.precision == GpuPrecision::kBf16 ? 8 : 11);
    case 8:
      return unit(53);
    default:
      return unit(24);
  }
}

// Half the distance of the smallest numbers of the output.
double least_of_output(const GemmProblem& problem) {
  return problem.output == Bytes{2} && problem.precision != GpuPrecision::kBf16 ? 0x1p-25 : 0;
}

// As the kernels take it: fp32 rounded to 10 bits of mantissa, ties away from zero (PTX ISA,
// cvt.rna.tf32.f32).
double taken(double value, GpuPrecision precision) {
  if (precision != GpuPrecision::kTf32) {
    return value;
  }
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return double{std::bit_cast<float>((bits + 0x1000U) & ~0x1FFFU)};
}

}  // namespace

RandomOperands sparse_operands(const KernelSpec& spec, std::uint64_t seed) {
  const KernelBuffers buffers = kernel_buffers(spec);
  const GemmProblem& p = spec.problem;
  const std::int64_t size = operand_size(p.precision).count();
  RandomOperands operands{random_operand(buffers.a.count() / size, p.precision, seed),
                          random_operand(buffers.b.count() / size, p.precision, seed + 1)};
  const double density = std::min(1.0, real(kProducts) / real(p.k));
  Rng rng{seed + 2};
  for (std::int64_t at = 0; at < buffers.a.count(); at += size) {
    if (rng.uniform() >= density) {
      std::fill_n(operands.a.begin() + at, size, std::byte{0});
    }
  }
  return operands;
}

RoundedCheck::RoundedCheck(const KernelSpec& spec, const std::vector<std::byte>& a,
                           const std::vector<std::byte>& b, std::uint64_t seed)
    : spec_{spec} {
  const GemmProblem& p = spec_.problem;
  const std::int64_t count =
      std::min({std::clamp(kWork / p.k, kLeastElements, kMostElements), p.batch * p.m * p.n});
  Rng rng{seed};
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(bound)));
  };
  elements_.push_back(element(a, b, 0, 0, 0));
  elements_.push_back(element(a, b, p.batch - 1, p.m - 1, p.n - 1));
  while (std::ssize(elements_) < count) {
    const std::int64_t batch = below(p.batch);
    const std::int64_t m = below(p.m);
    elements_.push_back(element(a, b, batch, m, below(p.n)));
  }
}

RoundedCheck::Element RoundedCheck::element(const std::vector<std::byte>& a,
                                            const std::vector<std::byte>& b, std::int64_t batch,
                                            std::int64_t m, std::int64_t n) const {
  const GemmProblem& p = spec_.problem;
  const OperandPlaces places{spec_};
  const std::int64_t size = operand_size(p.precision).count();
  long double sum = 0;  // its own rounding is far below that of fp64
  double magnitude = 0;
  std::int64_t products = 0;
  for (std::int64_t k = 0; k < p.k; ++k) {
    const auto at = places.a(batch, m, k);
    if (!at) {
      continue;
    }
    const double x = taken(decoded(a.data() + *at * size, p.precision, size), p.precision);
    if (x == 0) {
      continue;
    }
    const double y =
        taken(decoded(b.data() + places.b(batch, k, n) * size, p.precision, size), p.precision);
    sum += static_cast<long double>(x) * static_cast<long double>(y);
    magnitude += std::abs(x * y);
    ++products;
  }
  if (p.precision == GpuPrecision::kS8 && p.output == Bytes{1}) {
    sum = std::clamp(sum, -128.0L, 127.0L);
  }
  const auto exact = static_cast<double>(sum);
  const double of_sum = 2 * real(products) * unit_of_sums(p.precision) * magnitude;
  const double of_output = unit_of_output(p) * (std::abs(exact) + of_sum) + least_of_output(p);
  return {batch, m, n, exact, of_sum + of_output};
}

std::optional<std::string> RoundedCheck::wrong(const std::vector<std::byte>& c) const {
  const GemmProblem& p = spec_.problem;
  const OperandPlaces places{spec_};
  const std::int64_t size = p.output.count();
  std::int64_t count = 0;
  double worst = 0;
  std::string text;
  for (const Element& e : elements_) {
    const double found = decoded(c.data() + places.c(e.batch, e.m, e.n) * size, p.precision, size);
    const double error = std::abs(found - e.exact);
    if (error <= e.bound) {  // not: of NaN
      continue;
    }
    ++count;
    const double beyond = std::isnan(error) ? INFINITY : error / std::max(e.bound, 1e-300);
    if (beyond > worst) {
      worst = beyond;
      text = fmt::format("wrong: C[{}][{}][{}] of random numbers is {}, not {} within {:.3g}",
                         e.batch, e.m, e.n, found, e.exact, e.bound);
    }
  }
  return count == 0 ? std::nullopt
                    : std::optional{fmt::format("{}; {} of {} elements are wrong", text, count,
                                                elements_.size())};
}

}  // namespace mapsim
