// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/expression.hpp"

namespace mapsim {

// A set of tensors of an einsum, or of its rank variables, as bits, as far as it is known: all of
// `surely` is in it, nothing beyond `maybe`.
struct ForgeSet {
  std::uint32_t surely = 0;
  std::uint32_t maybe = 0;
  bool of_dims = false;
  bool is_known() const { return surely == maybe; }
};

// What names stand for in the expressions of a design, for one einsum.
struct ForgeNames {
  std::map<std::string, ForgeSet> sets;
  std::map<std::string, double> numbers;
  std::uint32_t tensors = 0;           // all of them
  std::uint32_t dims = 0;              // likewise
  std::vector<std::uint32_t> dims_of;  // of each tensor
  std::vector<double> bits_of;         // of a value of each tensor
};

// ~MainMemory, input | output, weight.rank_variables, Inputs if len(All) == 3 else Nothing. Throws
// ExpressionError.
ForgeSet evaluate_set(const std::string& text, const ForgeNames& names);

// 1024 * 64, weight.bits_per_value if weight else 1, len(All) == 3 (1 or 0). Throws
// ExpressionError.
double evaluate_number(const std::string& text, const ForgeNames& names);

// The same of a scalar; what is wrong goes to the reader, and the value is 1, or `otherwise`.
double read_forge_number(Reader& reader, const Node& node, const ForgeNames& names);
// A number as a count: rounded down, and no further from 0 than 2^53, beyond which nothing is
// counted.
std::int64_t forge_count(double number);
ForgeSet read_forge_set(Reader& reader, const Node& node, const ForgeNames& names,
                        const ForgeSet& otherwise = {});

}  // namespace mapsim
