// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/diagnostic.hpp"
#include "interop/onnx_ops.hpp"

namespace mapsim {

namespace {

// "ij,jk->ik": a letter for each axis of each operand, then of the result.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// nullopt: letters and commas are not all, so with an ellipsis.
std::optional<Equation> equation_of(const OnnxNode& node) {
  const auto at = node.words.find("equation");
  std::string text = at == node.words.end() ? "" : at->second;
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  Equation equation{{""}, arrow == std::string::npos ? "" : text.substr(arrow + 2)};
  std::map<char, int> seen;
  for (const char c : text.substr(0, arrow) + equation.result) {
    if (c != ',' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) {
      return std::nullopt;
    }
  }
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      equation.operands.emplace_back();
    } else {
      equation.operands.back() += c;
      ++seen[c];
    }
  }
  if (arrow == std::string::npos) {  // what stands once, in order of the alphabet
    for (const auto& [letter, count] : seen) {
      equation.result += count == 1 ? std::string{letter} : "";
    }
  }
  return equation;
}

// Of each letter. nullopt: an operand's shape is not known.
std::optional<std::map<char, std::int64_t>> extents_of(const OnnxNode& node,
                                                       const Equation& equation) {
  if (equation.operands.size() != node.inputs.size()) {
    throw std::invalid_argument{fmt::format("the equation has {} operands, not {}",
                                            equation.operands.size(), node.inputs.size())};
  }
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto& shape = node.inputs[i].shape;
    if (!shape) {
      return std::nullopt;
    }
    if (shape->size() != equation.operands[i].size()) {
      throw std::invalid_argument{fmt::format("{} has {} axes, in the equation {}",
                                              quoted(node.inputs[i].name), shape->size(),
                                              equation.operands[i].size())};
    }
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      const auto [known, is_new] = extents.emplace(equation.operands[i][axis], (*shape)[axis]);
      if (!is_new && known->second != (*shape)[axis]) {
        throw std::invalid_argument{fmt::format("the operands' axes '{}' differ: {} and {}",
                                                known->first, known->second, (*shape)[axis])};
      }
    }
  }
  return extents;
}

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

bool repeats(std::string letters) {
  std::sort(letters.begin(), letters.end());
  return std::adjacent_find(letters.begin(), letters.end()) != letters.end();
}

}  // namespace

std::optional<std::vector<std::int64_t>> einsum_shape(const OnnxNode& node) {
  const auto equation = equation_of(node);
  const auto extents = equation ? extents_of(node, *equation) : std::nullopt;
  if (!extents) {
    return std::nullopt;
  }
  std::vector<std::int64_t> shape;
  for (const char letter : equation->result) {
    const auto extent = extents->find(letter);
    if (extent == extents->end()) {
      throw std::invalid_argument{fmt::format("no operand has the result's axis '{}'", letter)};
    }
    shape.push_back(extent->second);
  }
  return shape;
}

std::optional<GemmShape> einsum_gemm(const OnnxNode& node) {
  const auto equation = equation_of(node);
  const auto extents = equation ? extents_of(node, *equation) : std::nullopt;
  if (!extents || !einsum_shape(node)) {
    return std::nullopt;
  }
  const std::string& a = equation->operands.front();
  const std::string& b = equation->operands.back();
  if (equation->operands.size() != 2 || repeats(a) || repeats(b) || repeats(equation->result)) {
    return std::nullopt;
  }
  known_shape(node.inputs[0], 0);  // throws where there are no elements
  known_shape(node.inputs[1], 0);
  GemmShape gemm{1, 1, 1, std::nullopt};
  std::int64_t batch = 1;
  for (const auto& [letter, extent] : *extents) {
    const bool in_a = has(a, letter), in_b = has(b, letter), kept = has(equation->result, letter);
    if (!kept && !(in_a && in_b)) {
      return std::nullopt;
    }
    std::int64_t& part = !kept ? gemm.k : !in_b ? gemm.m : !in_a ? gemm.n : batch;
    if (extent > (std::int64_t{1} << 53) / part) {
      throw std::invalid_argument{"an axis of more than 2^53"};
    }
    part *= extent;
  }
  if (batch > 1) {
    gemm.batch = batch;
  }
  return gemm;
}

}  // namespace mapsim
