// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_constraints.hpp"
#include "interop/timeloop_loops.hpp"

// What constraints keep and bypass.
namespace mapsim {

// The front end, too, wants each data space in one branch.
void TimeloopConstraints::read_branches(Reader& reader, const TimeloopPlacedConstraint& placed) {
  std::uint32_t missing = (1U << tensors_.size()) - 1;
  const std::uint32_t all = missing;
  const auto names_in = [&](std::uint32_t tensors) {
    Words names;
    for (const TensorId t : workload_.tensors.ids()) {
      if (TensorSet::from_bits(tensors).contains(t)) {
        names.push_back(workload_.tensors[t].name);
      }
    }
    return joined(names, ", ");
  };
  for (const TimeloopBranch& branch : placed.branches) {
    const TensorSet kept = read_timeloop_tensors(reader, *branch.kept, tensors_);
    if (const auto target = find_target(branch.name, false)) {
      add(target->level, {}, TensorSet::from_bits(all & ~kept.bits()), reader, *branch.kept);
    }
    if (const std::string twice = names_in(kept.bits() & ~missing); !twice.empty()) {
      reader.error(*branch.kept, fmt::format("{} is kept in two branches of !Parallel", twice));
    }
    missing &= ~kept.bits();
  }
  if (const std::string names = names_in(missing); !names.empty()) {
    reader.error(*placed.node,
                 fmt::format("no branch of !Parallel keeps {0}; what bypasses all of them is kept "
                             "by one more: - !Nothing {{constraints: {{dataspace: {{keep: "
                             "[{0}]}}}}}}",
                             names));
  }
}

void TimeloopConstraints::read_keeps(Reader& reader, const Node& node, const Target& target) {
  check_keys(reader, node, "dataspace", {"keep", "bypass", "keep_only", "bypass_only"});
  const auto named = [&](const char* key) {
    const Node* list = value_of(node, key);
    return list == nullptr ? TensorSet{} : read_timeloop_tensors(reader, *list, tensors_);
  };
  TensorSet keep = named("keep");
  TensorSet bypass = named("bypass");
  const std::uint32_t all = (1U << tensors_.size()) - 1;
  for (const bool kept : {true, false}) {  // all others are bypassed, or kept
    const char* key = kept ? "keep_only" : "bypass_only";
    if (value_of(node, key) != nullptr) {
      const TensorSet only = named(key);
      const TensorSet others = TensorSet::from_bits(all & ~only.bits());
      keep = keep | (kept ? only : others);
      bypass = bypass | (kept ? others : only);
    }
  }
  if (!target.is_name) {
    add(target.level, keep, bypass, reader, node);
  } else if (!keep.empty()) {
    reader.error(node, "nothing can be kept there: it is no storage");
  }
}

void TimeloopConstraints::add(std::size_t level, TensorSet keep, TensorSet bypass, Reader& reader,
                              const Node& node) {
  auto& [kept, bypassed] = keeps_[level];
  kept = TensorSet::from_bits(kept.bits() | keep.bits());
  bypassed = TensorSet::from_bits(bypassed.bits() | bypass.bits());
  if (!(kept & bypassed).empty()) {
    reader.error(node,
                 fmt::format("a data space is both kept and bypassed at {}", storages_[level]));
  }
}

}  // namespace mapsim
