// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/reader.hpp"
#include "interop/expression.hpp"

namespace mapsim {

// A set of an einsum's tensors, or of its rank variables, as bits. It may be known in part: all of
// `surely` and nothing beyond `maybe` is in it.
struct ForgeSet {
  std::uint32_t surely = 0;
  std::uint32_t maybe = 0;
  bool of_dims = false;
  bool is_known() const { return surely == maybe; }
};

// The meaning of names in the expressions of a design, for one einsum.
struct ForgeNames {
  std::map<std::string, ForgeSet> sets;
  std::map<std::string, double> numbers;
  std::uint32_t tensors = 0;           // all of them
  std::uint32_t dims = 0;              // all of them
  std::vector<std::uint32_t> dims_of;  // of each tensor
  std::vector<double> bits_of;         // of a value of each tensor
};

// The value of an expression of sets, such as ~MainMemory, input | output, weight.rank_variables,
// or Inputs if len(All) == 3 else Nothing. Throws ExpressionError.
ForgeSet evaluate_set(const std::string& text, const ForgeNames& names);

// The value of an expression of numbers, such as 1024 * 64, weight.bits_per_value if weight else 1,
// or len(All) == 3 (1 or 0). Throws ExpressionError.
double evaluate_number(const std::string& text, const ForgeNames& names);

// The same for a scalar of a file. Errors go to the reader; the value is then 1, or `otherwise`.
double read_forge_number(Reader& reader, const Node& node, const ForgeNames& names);
// The items of a list, which may be empty (nullptr: absent). Errors go to the reader.
std::vector<const Node*> read_forge_list(Reader& reader, const Node* list, std::string_view what);
// A number as a count: rounded down, and limited to 2^53 on either side of 0.
std::int64_t forge_count(double number);
ForgeSet read_forge_set(Reader& reader, const Node& node, const ForgeNames& names,
                        const ForgeSet& otherwise = {});
// The same where it is an error that the set is known in part.
ForgeSet read_known_forge_set(Reader& reader, const Node& node, const ForgeNames& names);

}  // namespace mapsim
