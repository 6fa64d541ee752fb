// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/kernels/source.hpp"

namespace mapsim {

// Operands of small whole numbers in the order of memory (gaps are zero). They are so small that
// every sum, and the stored result, is exact in any order of summing: the standard deviation of a
// sum is at most an eighth of the number up to which its type holds all whole numbers (2048 in
// fp16, 256 in bf16, 2^24 in fp32).
struct WholeOperands {
  std::vector<std::int8_t> a;
  std::vector<std::int8_t> b;
};
// Operands for the layouts of `spec`. Deterministic.
WholeOperands whole_operands(const KernelSpec& spec, std::uint64_t seed);

// These numbers in the precision's format: the bytes to upload.
std::vector<std::byte> encoded(const std::vector<std::int8_t>& values, GpuPrecision precision);

// Numbers of random sign and mantissa, 1/8 to 1 in magnitude (s8: any), on which kernels are timed.
// Zeros and simple mantissas would draw less power, and so run at a higher clock.
std::vector<std::byte> random_operand(std::int64_t elements, GpuPrecision precision,
                                      std::uint64_t seed);

// Indices of elements in the operands of a kernel. Nothing: the element is padding, which is zero.
struct OperandPlaces {
  explicit OperandPlaces(const KernelSpec& spec) : spec_{&spec} {}
  std::optional<std::int64_t> a(std::int64_t batch, std::int64_t m, std::int64_t k) const;
  std::int64_t b(std::int64_t batch, std::int64_t k, std::int64_t n) const;
  std::int64_t c(std::int64_t batch, std::int64_t m, std::int64_t n) const;

 private:
  const KernelSpec* spec_;
};

// Compares a result with the exact one by Freivalds' check (1977) in whole numbers: C x = A (B x)
// for a random x with entries from 1 to 2^20. All elements of C are checked. A single wrong one is
// always found, several in one row with a probability above 1 - 2^-20: a row is missed only if its
// errors cancel under x. An element that is no whole number is wrong.
class ExactCheck {
 public:
  ExactCheck(const KernelSpec& spec, const WholeOperands& operands, std::uint64_t seed);
  // `c`: the bytes that the device wrote. Nothing: they are right. The text: the first wrong
  // element, its exact value, and how many rows are wrong.
  std::optional<std::string> wrong(const std::vector<std::byte>& c) const;

 private:
  std::string first_wrong(const std::vector<std::byte>& c, std::int64_t batch, std::int64_t m,
                          std::int64_t rows) const;
  KernelSpec spec_;
  const WholeOperands* operands_;  // must outlive this
  std::vector<std::uint64_t> x_;   // [n]
  std::vector<std::uint64_t> z_;   // [batch][m], modulo 2^64
};

// The value of an element of a result, of `size` bytes, in this precision (s8 has 32-bit sums).
double decoded(const std::byte* element, GpuPrecision precision, std::int64_t size);

}  // namespace mapsim
