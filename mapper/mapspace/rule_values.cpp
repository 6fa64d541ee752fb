// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/rule_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mapsim {
namespace {

// The dims of the inputs' windows: of the last rank that slides, or of the other ones.
DimSet window_dims(const Workload& workload, GemmAxis axis, bool last) {
  DimSet set;
  for (const Tensor& tensor : workload.tensors) {
    std::vector<DimSet> windows;
    for (const Rank& rank : tensor.ranks) {
      if (tensor.role == Role::kInput && rank.terms.size() > 1) {
        DimSet& dims = windows.emplace_back();
        for (const Term& term : rank.terms) {
          dims.insert(term.dim);
        }
      }
    }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      set = (i + 1 == windows.size()) == last ? set | windows[i] : set;
    }
  }
  DimSet on_axis;
  for (const DimId d : workload.dims.ids()) {
    if (set.contains(d) && workload.gemm_axis(d) == axis) {
      on_axis.insert(d);
    }
  }
  return on_axis;
}

}  // namespace

std::optional<Allowed> both(const Allowed& a, const Allowed& b) {
  if (a.values.empty() && !b.values.empty()) {
    return both(b, a);
  }
  Allowed allowed{a.values, std::max(a.least, b.least), std::min(a.most, b.most)};
  if (a.values.empty()) {
    return allowed.least <= allowed.most ? std::optional(allowed) : std::nullopt;
  }
  std::erase_if(allowed.values, [&b](std::int64_t n) { return !b.contains(n); });
  allowed.least = a.least;
  allowed.most = a.most;
  return allowed.values.empty() ? std::nullopt : std::optional(allowed);
}

std::optional<Allowed> RuleValues::read_allowed(const Node& node, std::int64_t bound) {
  Allowed allowed;
  if (node.kind == Node::Kind::kMap) {
    const Fields range = reader_.fields(node, {"min", "max"});
    allowed.least = read_number(range.find("min"), bound).value_or(1);
    allowed.most = read_number(range.find("max"), bound).value_or(kMaxInteger);
    if (allowed.least > allowed.most) {
      reader_.error(range.place("max"), "max is less than min");
      return std::nullopt;
    }
    return allowed;
  }
  if (node.kind == Node::Kind::kSequence) {
    for (const Node* item : reader_.items(node, "a list of numbers")) {
      if (const auto number = read_number(item, bound)) {
        allowed.values.push_back(*number);
      }
    }
    std::sort(allowed.values.begin(), allowed.values.end());
  } else if (const auto number = read_number(&node, bound)) {
    allowed.values.push_back(*number);
  }
  return allowed.values.empty() ? std::nullopt : std::optional(allowed);
}

std::optional<std::int64_t> RuleValues::read_number(const Node* node, std::int64_t bound) {
  const bool whole = node != nullptr && node->kind == Node::Kind::kScalar && node->text == "whole";
  return whole ? bound : reader_.integer(node, 1, kMaxInteger);
}

bool RuleValues::check_extent(const Node& at, DimId dim, const Allowed& allowed) {
  if (!factors_.imperfect) {
    return check_factor(at, dim, allowed);
  }
  const ExtentDomain extents = domains(workload_, factors_)[dim];
  if (std::any_of(extents.begin(), extents.end(),
                  [&](std::int64_t extent) { return allowed.contains(extent); })) {
    return true;
  }
  reader_.error(
      at, fmt::format("no extent that tiles of {} may have is allowed", workload_.dims[dim].name));
  return false;
}

bool RuleValues::check_factor(const Node& at, DimId dim, const Allowed& allowed) {
  const std::int64_t bound = workload_.dims[dim].bound;
  if (factors_.imperfect) {
    const bool possible =
        allowed.values.empty() ? allowed.least <= bound : allowed.values.front() <= bound;
    if (!possible) {
      reader_.error(at, fmt::format("the bound of {} is {}: it has no more parts than that",
                                    workload_.dims[dim].name, bound));
    }
    return possible;
  }
  for (std::int64_t n = 1; n <= bound / n; ++n) {
    if (bound % n == 0 && (allowed.contains(n) || allowed.contains(bound / n))) {
      return true;
    }
  }
  reader_.error(at, fmt::format("nothing that divides the bound {} of {} is allowed", bound,
                                workload_.dims[dim].name));
  return false;
}

DimSet RuleValues::read_dims(const Node& list) {
  DimSet set;
  if (list.kind == Node::Kind::kSequence && list.items.empty()) {
    return set;
  }
  const auto node_of = [&](const std::string& word) -> const Node& {
    const auto same = [&](const Node& item) { return item.text == word; };
    const auto item = std::find_if(list.items.begin(), list.items.end(), same);
    return item == list.items.end() ? list : *item;
  };
  for (const std::size_t word : reader_.choice_list(&list, dims_, "dim")) {
    set = set | dims_of(word, node_of(dims_[word]));
  }
  return set;
}

DimSet RuleValues::dims_of(std::size_t word, const Node& at) {
  constexpr std::size_t kAxes = 4;  // axes of a GEMM: between the names and the words for windows
  const auto& [name, dims] = dim_sets_[word];
  if (dims.empty() && word >= workload_.dims.size() + kAxes) {
    lacking_.push_back({&at, name});
  }
  return dims;
}

std::vector<std::pair<std::string, DimSet>> dim_words(const Workload& workload) {
  std::vector<std::pair<std::string, DimSet>> words;
  for (const DimId d : workload.dims.ids()) {
    words.emplace_back(workload.dims[d].name, DimSet{d});
  }
  for (const GemmAxis axis : {GemmAxis::kM, GemmAxis::kN, GemmAxis::kK, GemmAxis::kBatch}) {
    DimSet set;
    for (const DimId d : workload.dims.ids()) {
      if (workload.gemm_axis(d) == axis) {
        set.insert(d);
      }
    }
    words.emplace_back(to_string(axis), set);
  }
  words.emplace_back("row_out", window_dims(workload, GemmAxis::kM, true));
  words.emplace_back("row_kernel", window_dims(workload, GemmAxis::kK, true));
  words.emplace_back("column_out", window_dims(workload, GemmAxis::kM, false));
  words.emplace_back("column_kernel", window_dims(workload, GemmAxis::kK, false));
  return words;
}

std::vector<std::pair<std::string, TensorSet>> tensor_words(const Workload& workload) {
  std::vector<std::pair<std::string, TensorSet>> words;
  for (const TensorId t : workload.tensors.ids()) {
    words.emplace_back(workload.tensors[t].name, TensorSet{t});
  }
  for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
    TensorSet set;
    for (const TensorId t : workload.tensors.ids()) {
      if (workload.tensors[t].role == role) {
        set.insert(t);
      }
    }
    words.emplace_back(to_string(role), set);
  }
  return words;
}

}  // namespace mapsim
