// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/kernels/source.hpp"

namespace mapsim {

// Numbers of random_operand() with all bits of their mantissas, in the order of memory. In A so
// many are zero that a sum has about 64 products. Then the bound below is so tight that sums in a
// narrower format, or tf32 operands that were not rounded, exceed it.
struct RandomOperands {
  std::vector<std::byte> a;
  std::vector<std::byte> b;
};
RandomOperands sparse_operands(const KernelSpec& spec, std::uint64_t seed);

// Compares elements of a result with exact ones, within the error that rounding may cause (Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.1; the factor 2 is for the truncation
// of tensor cores):
//   |found - exact| <= 2 n u sum |a b| + v |result|
// n: products that are not zero; u, v: unit roundoffs of the sums (2^-24 in fp32, 2^-11 in fp16,
// 2^-53 in fp64, none of whole numbers) and of the output. Results of s8 are exact, saturated.
class RoundedCheck {
 public:
  // Draws some thousand elements by `seed`, fewer if sums are long; always the first and the last.
  RoundedCheck(const KernelSpec& spec, const std::vector<std::byte>& a,
               const std::vector<std::byte>& b, std::uint64_t seed);
  // `c`: the bytes that the device wrote. Nothing: they are right. The text: the worst element, and
  // how many exceed their bounds.
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
