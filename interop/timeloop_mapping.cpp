// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_mapping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_components.hpp"
#include "interop/timeloop_loops.hpp"

namespace mapsim {

namespace {

// Demands of version 0.4 that are not known here; its front end writes them out even where they are
// empty.
constexpr std::array kDemands{"keep_only",
                              "max_overbooked_proportion",
                              "no_iteration_over_dataspaces",
                              "no_multicast_no_reduction",
                              "no_reuse",
                              "no_temporal_reuse",
                              "remainders",
                              "rmw_on_first_writeback"};

// Demands that change nothing. Timeloop reads no 'stream'; what neighbours hand each other
// ('no_link_transfer') is a saving of Timeloop that is not counted here anyway.
constexpr std::array kIgnoredDemands{"stream", "no_link_transfer"};

constexpr std::int64_t kTooMany = std::int64_t{1} << 31;  // iterations; times a factor, it fits

class MappingReader {
 public:
  MappingReader(Reader& reader, const TimeloopMachine& machine, const Workload& workload,
                const std::vector<TimeloopConstraint>& constraints, ImportNotes& notes)
      : reader_{reader},
        machine_{machine},
        workload_{workload},
        notes_{notes},
        storages_{names_of(machine.storages)},
        tensors_{names_of(workload.tensors)},
        blocks_(machine.storages.size()),
        seen_(machine.storages.size()) {
    for (const TimeloopConstraint& each : constraints) {
      TimeloopConstraint& rule = rules_[each.level] = each;
      if (machine.storages[each.level].holds_nothing) {  // but for what a file names
        rule.keep = rule.bypass = TensorSet{};
        rule.temporal.reset();
      }
    }
  }

  std::vector<TimeloopBlock> read(const Node& section) {
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
      if (l == 0 || !machine_.storages[l].holds_nothing) {  // else only what the file names
        blocks_[l].keep = TensorSet::from_bits((1U << workload_.tensors.size()) - 1);
      }
    }
    const std::size_t before = reader_.errors();
    for (const Node* item : reader_.items(section, "a list of directives")) {
      read_directive(*item);
    }
    for (const auto& [level, rule] : rules_) {
      join_rule(section, level, rule);
    }
    if (reader_.errors() == before) {
      check_products(section);
      if (blocks_.front().keep.size() != static_cast<int>(workload_.tensors.size())) {
        reader_.error(section, fmt::format("a tensor bypasses {}; here, the outermost storage "
                                           "keeps every tensor",
                                           storages_.front()));
      }
    }
    return blocks_;
  }

 private:
  static bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  }
  // Older inputs count storages from the innermost one on.
  std::optional<std::size_t> numbered(const Node& target) {
    const auto number =
        reader_.integer(&target, 0, static_cast<std::int64_t>(storages_.size()) - 1);
    return number ? std::optional{storages_.size() - 1 - static_cast<std::size_t>(*number)}
                  : std::nullopt;
  }

  static bool demands(const Fields& fields, const char* key) {
    const Node& value = fields.place(key);
    return fields.has(key) &&
           (value.kind == Node::Kind::kScalar || !value.items.empty() || !value.entries.empty());
  }

  void read_directive(const Node& node) {
    Words keys{"target", "type", "factors", "permutation", "split", "keep", "bypass"};
    keys.insert(keys.end(), kDemands.begin(), kDemands.end());
    keys.insert(keys.end(), kIgnoredDemands.begin(), kIgnoredDemands.end());
    const Fields fields = reader_.fields(node, keys);
    for (const char* demand : kDemands) {
      if (demands(fields, demand)) {
        reader_.error(fields.place(demand),
                      fmt::format("'{}' of a directive is not known here", demand));
      }
    }
    for (const char* demand : kIgnoredDemands) {
      if (demands(fields, demand)) {
        const Node* target = value_of(node, "target");
        notes_.trifles.push_back({"ignored demands of the mapping, which change no count here",
                                  demand, target != nullptr ? target->text : ""});
      }
    }
    const Words types{"temporal", "spatial", "datatype", "dataspace", "bypass"};
    const auto type = reader_.choice(fields.require("type"), types, "type of directive");
    const Node* target = fields.require("target");
    if (!type || target == nullptr) {
      return;
    }
    const std::size_t kind = std::min<std::size_t>(*type, 2);
    const auto own = kind == 1 ? fanout_called(timeloop_point_name(target->text)) : std::nullopt;
    const auto fanout = own ? own : fanout_called(target->text);
    if (fanout && (kind != 1 || fanout->is_unit)) {
      demand_nothing(fields, kind);
      return;
    }
    const auto level = fanout                    ? std::optional{fanout->level}
                       : is_number(target->text) ? numbered(*target)
                                                 : reader_.choice(target, storages_, "storage");
    if (!level) {
      return;
    }
    if (std::exchange(seen_[*level][kind], true)) {
      reader_.error(node,
                    fmt::format("a second {} directive for {}", types[*type], storages_[*level]));
      return;
    }
    if (kind == 2) {
      read_keeps(fields, *level);
    } else {
      read_loops(fields, *level, kind == 1);
    }
  }

  // Lanes that take the next nonzeros may have more indices than there are lanes, a whole number of
  // times.
  bool fills_lanes(std::size_t level, Axis axis, std::int64_t taken, std::int64_t lanes) const {
    const std::vector<TimeloopLoop>& loops = blocks_[level].spatial;
    return taken % lanes == 0 &&
           std::any_of(loops.begin(), loops.end(), [&](const TimeloopLoop& loop) {
             return loop.axis == axis && loop.bound % (taken / lanes) == 0 &&
                    loop.residual == loop.bound &&
                    machine_.storages[level].packed.contains(loop.dim);
           });
  }

  // What goes along an axis, against the instances that there are.
  void check_instances(const Node& node, std::size_t level) {
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      std::int64_t taken = 1;
      Words factors;
      for (const TimeloopLoop& loop : blocks_[level].spatial) {
        if (loop.axis == axis && taken <= kTooMany) {
          taken *= loop.bound;
          factors.push_back(fmt::format("{}={}", workload_.dims[loop.dim].name, loop.bound));
        }
      }
      const std::int64_t instances = machine_.fanout(level, axis);
      if (taken > instances && !fills_lanes(level, axis, taken, instances)) {
        reader_.error(node, fmt::format("{} along {} below {}, which has {} there",
                                        fmt::join(factors, " "), to_string(axis), storages_[level],
                                        instances == 1 ? "no more than one instance"
                                                       : fmt::format("{} instances", instances)));
      }
    }
  }

  struct NamedFanout {
    std::size_t level = 0;
    bool is_unit = false;
  };
  std::optional<NamedFanout> fanout_called(const std::string& name) const {
    const auto has = [&](const Words& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (std::size_t l = 0; l < machine_.storages.size(); ++l) {
      const TimeloopStorage& storage = machine_.storages[l];
      if (has(storage.fanout_names) || has(storage.unit_names)) {
        return NamedFanout{l, has(storage.unit_names)};
      }
    }
    return std::nullopt;
  }

  // A fanout keeps nothing and has no loops of its own in time; one instance has none in space.
  void demand_nothing(const Fields& fields, std::size_t kind) {
    const Node* keep = fields.has("keep") ? value_of(fields.node(), "keep") : nullptr;
    if (kind == 2 && keep != nullptr && !keep->items.empty()) {
      reader_.error(*keep, "nothing can be kept there: it is no storage");
    }
    const auto factors = kind == 2
                             ? PerDim<TimeloopFactor>(workload_.dims.size())
                             : read_timeloop_factors(reader_, fields.find("factors"), workload_);
    for (const DimId d : workload_.dims.ids()) {
      if (factors[d].bound > 1) {
        reader_.error(fields.node(), fmt::format("a loop over {} where there can be none",
                                                 workload_.dims[d].name));
      }
    }
  }

  void read_keeps(const Fields& fields, std::size_t level) {
    TimeloopBlock& block = blocks_[level];
    refuse(fields, {"factors", "permutation", "split"}, "a directive of data spaces");
    TensorSet named[2];
    for (const std::size_t which : {0, 1}) {
      const Node* list = fields.find(which == 0 ? "keep" : "bypass");
      named[which] =
          list == nullptr ? TensorSet{} : read_timeloop_tensors(reader_, *list, tensors_);
    }
    if (!(named[0] & named[1]).empty()) {
      reader_.error(fields.node(), "a data space is both kept and bypassed");
    }
    if (const TimeloopConstraint* rule = rule_at(level);
        rule != nullptr && !((named[0] & rule->bypass) | (named[1] & rule->keep)).empty()) {
      reader_.error(fields.node(), fmt::format("a data space is kept or bypassed otherwise by the "
                                               "constraints of {}",
                                               storages_[level]));
    }
    for (const TensorId t : workload_.tensors.ids()) {
      if (named[0].contains(t)) {
        block.keep.insert(t);
      } else if (named[1].contains(t)) {
        block.keep.erase(t);
      }
    }
  }

  void refuse(const Fields& fields, const Words& keys, const char* where) {
    for (const std::string& key : keys) {
      if (fields.has(key)) {
        reader_.error(fields.place(key), fmt::format("'{}' has no place in {}", key, where));
      }
    }
  }

  void read_loops(const Fields& fields, std::size_t level, bool spatial) {
    refuse(fields, {"keep", "bypass"}, "a directive of loops");
    if (!spatial) {
      refuse(fields, {"split"}, "a temporal directive");
    }
    const auto factors = read_timeloop_factors(reader_, fields.find("factors"), workload_);
    const TimeloopOrder order = read_timeloop_order(reader_, fields.find("permutation"), workload_);
    const auto split = spatial ? read_whole(reader_, fields.find("split"), 0) : std::nullopt;
    add_loops(fields.node(), level, spatial, factors, order, split);
  }

  // The file lists the innermost loop first; along X first. A split says how many dims of the
  // permutation go along X.
  void add_loops(const Node& node, std::size_t level, bool spatial, PerDim<TimeloopFactor> factors,
                 TimeloopOrder order, std::optional<std::int64_t> split) {
    const PerDim<TimeloopFactor> own = factors;
    join_factors(node, level, spatial, factors);
    if (!spatial) {
      join_order(node, level, factors, order);
    }
    std::vector<TimeloopLoop>& loops = spatial ? blocks_[level].spatial : blocks_[level].temporal;
    for (std::size_t i = order.dims.size(); i-- > 0;) {
      const DimId d = order.dims[i];
      if (factors[d].bound == 1) {
        continue;
      }
      Axis axis = Axis::kX;
      if (spatial) {
        std::optional<Axis> by_split;
        if (split) {
          by_split = i < static_cast<std::size_t>(*split) ? Axis::kX : Axis::kY;
        }
        const std::optional<Axis> found = axis_of(node, level, d, by_split, own[d].given);
        if (!found) {
          return;
        }
        axis = *found;
      }
      loops.push_back({d, factors[d].bound, factors[d].residual, axis});
    }
    if (spatial) {
      std::stable_partition(loops.begin(), loops.end(),
                            [](const TimeloopLoop& each) { return each.axis == Axis::kY; });
      check_instances(node, level);
    }
  }

  // By the split of the directive, by the constraints, or because there is one axis. nullopt: an
  // error.
  std::optional<Axis> axis_of(const Node& node, std::size_t level, DimId d,
                              std::optional<Axis> by_split, bool by_directive) {
    const TimeloopConstraint* rule = rule_at(level);
    const bool ruled = rule != nullptr && rule->along_x && rule->along_y &&
                       rule->along_x->dims.contains(d) != rule->along_y->dims.contains(d);
    const Axis by_rule = ruled && rule->along_x->dims.contains(d) ? Axis::kX : Axis::kY;
    if (by_split && (by_directive || !ruled)) {
      if (ruled && *by_split != by_rule) {
        reader_.error(node, fmt::format("{} along {}, but along {} by the constraints of {}",
                                        workload_.dims[d].name, to_string(*by_split),
                                        to_string(by_rule), storages_[level]));
      }
      return by_split;
    }
    if (ruled) {
      return by_rule;
    }
    const bool x = machine_.fanout(level, Axis::kX) > 1;
    const bool y = machine_.fanout(level, Axis::kY) > 1;
    if (x && y) {
      reader_.error(node, "no 'split': which loops go along X is not said");
      return std::nullopt;
    }
    return y ? Axis::kY : Axis::kX;
  }

  const TimeloopConstraint* rule_at(std::size_t level) const {
    const auto rule = rules_.find(level);
    return rule == rules_.end() ? nullptr : &rule->second;
  }

  // Factors of constraints are those of the mapping, too.
  void join_factors(const Node& node, std::size_t level, bool spatial,
                    PerDim<TimeloopFactor>& factors) {
    const TimeloopConstraint* rule = rule_at(level);
    const TimeloopFactorRules* rules = rule == nullptr              ? nullptr
                                       : !spatial && rule->temporal ? &rule->temporal->factors
                                       : spatial && rule->along_x   ? &rule->along_x->factors
                                                                    : nullptr;
    for (const DimId d : workload_.dims.ids()) {
      const TimeloopFactorRule each = rules == nullptr ? TimeloopFactorRule{} : (*rules)[d];
      if (!each.factor) {
        continue;
      }
      if (!factors[d].given && !each.at_most) {
        factors[d] = {*each.factor, *each.factor, true, false};
      } else if (each.at_most ? factors[d].bound > *each.factor
                              : factors[d].bound != *each.factor) {
        reader_.error(node, fmt::format("{0}={1}, but {0}{2}{3} by the constraints of {4}",
                                        workload_.dims[d].name, factors[d].bound,
                                        each.at_most ? "<=" : "=", *each.factor, storages_[level]));
      }
    }
  }

  // The order of constraints is that of the mapping where this has none, and else must be in it.
  void join_order(const Node& node, std::size_t level, const PerDim<TimeloopFactor>& factors,
                  TimeloopOrder& order) {
    const TimeloopConstraint* rule = rule_at(level);
    if (rule == nullptr || !rule->temporal) {
      return;
    }
    std::vector<DimId> ruled(rule->temporal->innermost.rbegin(), rule->temporal->innermost.rend());
    for (const DimId d : order.dims) {
      if (std::find(ruled.begin(), ruled.end(), d) == ruled.end()) {
        ruled.push_back(d);
      }
    }
    const auto loops_of = [&](std::vector<DimId> dims) {
      std::erase_if(dims, [&](DimId d) { return factors[d].bound == 1; });
      return dims;
    };
    if (order.given > 0 && loops_of(order.dims) != loops_of(ruled)) {
      reader_.error(node, fmt::format("the order of these loops contradicts the constraints of {}",
                                      storages_[level]));
    }
    order.dims = ruled;
  }

  // What the constraints of a storage say and no directive.
  void join_rule(const Node& section, std::size_t level, const TimeloopConstraint& rule) {
    TimeloopBlock& block = blocks_[level];
    block.keep = TensorSet::from_bits((block.keep | rule.keep).bits() & ~rule.bypass.bits());
    for (const bool spatial : {false, true}) {
      if (!seen_[level][spatial ? 1 : 0]) {
        add_loops(section, level, spatial, PerDim<TimeloopFactor>(workload_.dims.size()),
                  read_timeloop_order(reader_, nullptr, workload_), std::nullopt);
      }
    }
  }

  // The loops over a dim, outermost first, must count it out, and in the way that tiles of a fixed
  // size do: a residual is what is left for the last one.
  void check_products(const Node& section) {
    for (const DimId d : workload_.dims.ids()) {
      std::vector<TimeloopLoop> loops;
      for (const TimeloopBlock& block : blocks_) {
        for (const auto* list : {&block.temporal, &block.spatial}) {
          std::copy_if(list->begin(), list->end(), std::back_inserter(loops),
                       [d](const TimeloopLoop& loop) { return loop.dim == d; });
        }
      }
      std::int64_t before_last = 0;  // iterations of the whole nest before the last one
      for (const TimeloopLoop& loop : loops) {
        before_last = std::min(before_last * loop.bound + loop.residual - 1, kTooMany);
      }
      const Dim& dim = workload_.dims[d];
      if (before_last + 1 != dim.bound) {
        reader_.error(section, fmt::format("the loops over {} make {} iterations, not {}", dim.name,
                                           before_last + 1, dim.bound));
      } else if (!loops.empty() && loops.front().residual != loops.front().bound) {
        reader_.error(section, fmt::format("the outermost loop over {} never makes its {} "
                                           "iterations",
                                           dim.name, loops.front().bound));
      }
    }
  }

  Reader& reader_;
  const TimeloopMachine& machine_;
  const Workload& workload_;
  ImportNotes& notes_;
  Words storages_;
  Words tensors_;
  std::vector<TimeloopBlock> blocks_;
  std::vector<std::array<bool, 3>> seen_;  // temporal, spatial, data spaces
  std::map<std::size_t, TimeloopConstraint> rules_;
};

}  // namespace

std::vector<TimeloopBlock> read_timeloop_mapping(Reader& reader, const Node& section,
                                                 const TimeloopMachine& machine,
                                                 const Workload& workload,
                                                 const std::vector<TimeloopConstraint>& constraints,
                                                 ImportNotes& notes) {
  return MappingReader{reader, machine, workload, constraints, notes}.read(section);
}

}  // namespace mapsim
