// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "interop/timeloop_import.hpp"

namespace mapsim {

namespace {

class MapspaceText {
 public:
  explicit MapspaceText(const TimeloopImport& import)
      : import_{import},
        machine_{import.design.machine},
        workload_{import.design.workload},
        loops_(machine_.storages.size()) {}

  std::string run() {
    for (const TimeloopConstraint& each : import_.constraints) {
      add_tensors(keep_, each.level, each.keep);
      add_tensors(bypass_, each.level, each.bypass);
      add_unrolling(each);
      if (each.temporal) {
        loops_[each.level] = region(*each.temporal);
      }
    }
    std::string text = "mapspace:\n  tiling: even\n  one_loop_per_dim: true\n";
    text += keep_.empty() ? "" : "  keep:\n" + keep_;
    text += bypass_.empty() ? "" : "  bypass:\n" + bypass_;
    text += unroll_.empty() ? "" : "  unroll:\n" + unroll_;
    const std::string loops = loops_text();
    return text + (loops.empty() ? "" : "  loops:\n" + loops);
  }

 private:
  const std::string& name(DimId d) const { return workload_.dims[d].name; }

  template <class Keep>
  std::vector<std::string> names_where(const Keep& keep) const {
    std::vector<std::string> names;
    for (const DimId d : workload_.dims.ids()) {
      if (keep(d)) {
        names.push_back(name(d));
      }
    }
    return names;
  }

  void add_tensors(std::string& lines, std::size_t level, TensorSet tensors) const {
    std::vector<std::string> names;
    for (const TensorId t : workload_.tensors.ids()) {
      if (tensors.contains(t)) {
        names.push_back(workload_.tensors[t].name);
      }
    }
    if (!names.empty()) {
      lines += fmt::format("    {}: [{}]\n", machine_.storages[level].name, fmt::join(names, ", "));
    }
  }

  // ", factors: {C: 4, K: {max: 8}}" of those dims that may have a factor at all.
  template <class Keep>
  std::string factors_text(const TimeloopFactorRules& rules, const Keep& keep) const {
    std::vector<std::string> factors;
    for (const DimId d : workload_.dims.ids()) {
      if (!keep(d) || !rules[d].factor) {
        continue;
      }
      factors.push_back(rules[d].at_most ? fmt::format("{}: {{max: {}}}", name(d), *rules[d].factor)
                                         : fmt::format("{}: {}", name(d), *rules[d].factor));
    }
    return factors.empty() ? "" : fmt::format(", factors: {{{}}}", fmt::join(factors, ", "));
  }

  void add_unrolling(const TimeloopConstraint& each) {
    if (!each.along_x || !each.along_y || !machine_.has_fanout(each.level)) {
      return;
    }
    const auto axis = [&](const TimeloopAxisRule& rule) {
      const auto along = [&](DimId d) { return rule.dims.contains(d); };
      return fmt::format("{{dims: [{}]{}}}", fmt::join(names_where(along), ", "),
                         factors_text(rule.factors, along));
    };
    unroll_ += fmt::format("    {}: {{X: {}, Y: {}}}\n", machine_.fanout_name(each.level),
                           axis(*each.along_x), axis(*each.along_y));
  }

  // Timeloop's free dims stand outside of those that it puts in order.
  std::string region(const TimeloopLoopRule& rule) const {
    const auto may = [&](DimId d) { return !rule.factors[d].forbids(); };
    const auto is_free = [&](DimId d) {
      return may(d) &&
             std::find(rule.innermost.begin(), rule.innermost.end(), d) == rule.innermost.end();
    };
    std::string order = fmt::format("[{}]", fmt::join(names_where(is_free), ", "));
    if (rule.innermost.empty()) {
      return fmt::format("dims: {}{}", order, factors_text(rule.factors, may));
    }
    if (names_where(is_free).empty()) {
      order.clear();
    }
    for (const DimId d : rule.innermost) {
      if (may(d)) {
        order += (order.empty() ? "" : ", ") + name(d);
      }
    }
    return fmt::format("order: [{}]{}", order, factors_text(rule.factors, may));
  }

  bool keeps_something(std::size_t level) const {
    return level == 0 || std::any_of(import_.constraints.begin(), import_.constraints.end(),
                                     [level](const TimeloopConstraint& each) {
                                       return each.level == level && !each.keep.empty();
                                     });
  }

  // Then it parts nothing, and rules for the loops above and below it are about the same loops.
  bool keeps_nothing(std::size_t level) const {
    TensorSet kept;
    for (const TensorId t : workload_.tensors.ids()) {
      kept.insert(t);
    }
    for (const TimeloopConstraint& each : import_.constraints) {
      if (each.level == level) {
        kept = TensorSet::from_bits(kept.bits() & ~each.bypass.bits());
      }
    }
    return kept.empty();
  }

  // The temporal loops of a storage stand right above the fanout below it or, without one, above
  // the next storage or the compute units. Between a fanout and the storage below it is none.
  std::string loops_text() const {
    std::string text;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      const std::string& child = machine_.child_name(l);
      if (!loops_[l].empty()) {
        text += fmt::format("    {}: {{{}}}\n",
                            machine_.has_fanout(l) ? machine_.fanout_name(l) : child, loops_[l]);
      }
      if (machine_.has_fanout(l) &&
          (l + 1 == loops_.size() || keeps_something(l + 1) || keeps_nothing(l + 1))) {
        text += fmt::format("    {}: {{dims: []}}\n", child);
      }
    }
    return text;
  }

  const TimeloopImport& import_;
  const TimeloopMachine& machine_;
  const Workload& workload_;
  std::string keep_, bypass_, unroll_;
  std::vector<std::string> loops_;  // of each storage: what its region says
};

}  // namespace

std::string constraints_text(const TimeloopImport& import) { return MapspaceText{import}.run(); }

}  // namespace mapsim
