// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "workloads/precision.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The most multiply-accumulates, and the largest coordinate, of a workload: doubles hold them
// exactly, and their products with widths fit into 64 bits.
inline constexpr std::int64_t kMaxOperations = std::int64_t{1} << 53;

// What is wrong with an equation, at a byte of its text, or with a dim that it lacks.
struct EquationProblem {
  std::size_t offset = 0;
  std::string what;
  std::string dim{};  // not in the equation; "": the text is wrong
};

// Parses  O[n][k][p][q] += I[n][c][2*p+r][2*q+s] * W[k][c][r][s]  over these dims into a workload
// without a name: first operand input, the others weights, 8 bits each. In numpy's notation,
// ik,kj->ij, operands are A, B, ... and the result is Z. Every dim of `dims` must index a tensor.
// All problems, in the order of the text; a problem without a place is at 0.
std::variant<Workload, std::vector<EquationProblem>> parse_equation(const std::string& equation,
                                                                    const std::vector<Dim>& dims);

// The same with a name, for C++. Throws std::invalid_argument with the first problem.
Workload einsum(const std::string& name, const std::string& equation, const std::vector<Dim>& dims,
                const Precision& precision = {}, const std::map<std::string, Role>& roles = {});

}  // namespace mapsim
