// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "workloads/graph.hpp"

namespace mapsim {

// An operator without layers as a graph file describes it. What is not given is empty.
struct OpForm {
  std::string op;
  OpKind kind = OpKind::kOther;
  std::optional<std::int64_t> axis{};  // from the back where negative
  std::optional<Extents> list{};       // parts of a split, axes of a transpose, else the new shape
  std::optional<std::array<std::int64_t, 2>> kernel{}, stride{}, padding{};  // height, width
  bool ceil = false;                                                         // windows: round up
};

// Which of `axis`, `parts`, `perm`, `shape`, `kernel`, `stride`, `padding`, `ceil` it may have.
Words keys_of(const std::string& op);
// The one of them that it must have; empty: none.
std::string key_needed(const std::string& op);

// The shapes of what it makes of operands of these shapes, or what is wrong.
std::variant<std::vector<Extents>, std::string> result_shapes(const OpForm& form,
                                                              const std::vector<Extents>& in);

// Constants that an operator of the norms has, in elements: a factor and an addend per channel or
// per element of a row.
std::int64_t norm_parameters(const std::string& op, const Extents& in);

// 1x64x56x56
std::string shape_text(const Extents& shape);

}  // namespace mapsim
