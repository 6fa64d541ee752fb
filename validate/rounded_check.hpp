// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/kernels/source.hpp"

namespace mapsim {

// Operands as they lie in memory, random_operand()'s numbers with all bits of their mantissas. Of A
// so many are zero that about 64 products of a sum are left: then the bound below is so near that
// sums in a narrower format, or operands of tf32 that nobody rounded, are beyond it.
struct RandomOperands {
  std::vector<std::byte> a;
  std::vector<std::byte> b;
};
RandomOperands sparse_operands(const KernelSpec& spec, std::uint64_t seed);

// Elements of a result on any operands, held against the error that rounding may make (Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.1, with 2 for the truncation of tensor
// cores):
//   |found - exact| <= 2 n u sum |a b| + v |result|
// n: products that are not zero; u, v: unit roundoffs of the sums (2^-24 in fp32, 2^-11 in fp16,
// 2^-53 in fp64, none of whole numbers) and of the output. Results of s8 are exact, saturated.
class RoundedCheck {
 public:
  // Some thousand elements, fewer of long sums, drawn by `seed`; the first and the last always.
  RoundedCheck(const KernelSpec& spec, const std::vector<std::byte>& a,
               const std::vector<std::byte>& b, std::uint64_t seed);
  // `c` as the device wrote it. Nothing: it is right. The text: the worst element, and how many are
  // beyond their bounds.
  std::optional<std::string> wrong(const std::vector<std::byte>& c) const;

 private:
  struct Element {
    std::int64_t batch, m, n;
    double exact;
    double bound;
  };
  Element element(const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                  std::int64_t batch, std::int64_t m, std::int64_t n) const;
  KernelSpec spec_;
  std::vector<Element> elements_;
};

}  // namespace mapsim
