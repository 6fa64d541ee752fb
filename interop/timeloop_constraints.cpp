// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_components.hpp"
#include "interop/timeloop_loops.hpp"

namespace mapsim {

namespace {

void refuse_key(Reader& reader, const Node& at, const std::string& key, const std::string& type) {
  reader.error(at, fmt::format("'{}' of a {} constraint has no counterpart here", key, type));
}

template <class Names>
bool is_among(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TimeloopConstraints::TimeloopConstraints(const TimeloopArchSection& arch, const Workload& workload,
                                         ImportNotes& notes)
    : machine_{arch.machine},
      workload_{workload},
      notes_{notes},
      absorbed_{arch.absorbed},
      dummies_{arch.dummies},
      empty_{arch.empty},
      of_nodes_{arch.of_nodes},
      storages_{names_of(arch.machine.storages)},
      tensors_{names_of(workload.tensors)} {}

void TimeloopConstraints::read(Reader& reader, const Node& section) {
  if (section.kind == Node::Kind::kSequence) {
    read_list(reader, section);
    return;
  }
  const Node* named = value_of(section, "constraints");
  const bool by_name = named != nullptr && named->kind == Node::Kind::kScalar;
  const std::string wanted = by_name ? "constraints_" + named->text : "constraints";
  if (by_name && value_of(section, wanted) == nullptr) {
    reader.error(*named, fmt::format("there is no {} beside it", quoted(wanted)));
  }
  for (const Entry* entry : reader.entries(section, "constraints")) {
    const std::string& key = entry->key.text;
    if (key == wanted || (key == "targets" && named == nullptr)) {
      read_list(reader, entry->value);
    } else if (key.starts_with("constraints_") || key == "targets") {
      notes_.lines.push_back(
          fmt::format("'{}' is not read, as by Timeloop: the constraints are those of '{}'", key,
                      named == nullptr ? "targets" : wanted));
    } else if (key != "version" && key != "template" && key != "constraints") {
      reader.error(entry->key,
                   fmt::format("unknown key {}; one of version, template, targets, constraints",
                               quoted(key)));
    }
  }
  const Node* kind = value_of(section, "template");
  if (kind != nullptr && kind->text != "uber") {
    reader.error(*kind, fmt::format("the mapspace template {} is not known here, only 'uber'",
                                    quoted(kind->text)));
  }
}

void TimeloopConstraints::read(Reader& reader, const TimeloopPlacedConstraint& placed) {
  if (!placed.branches.empty()) {
    read_branches(reader, placed);
    return;
  }
  for (const Entry* entry : reader.entries(*placed.node, "constraints")) {
    const bool around = !placed.above.empty() && entry->key.text == "spatial";
    const bool empty = asks_for_nothing(entry->value);
    auto target = around ? find_target(placed.above, false)
                         : find_target(placed.target, entry->key.text == "spatial");
    if (empty && around) {
      continue;
    }
    if (!target || (target->is_name && !around)) {
      refuse_all(reader, entry->value, entry->key.text);
    } else {
      read_one(reader, entry->key.text, entry->value, *target);
      const auto loops = loops_.find({target->level, true});
      if (loops != loops_.end() && entry->key.text == "spatial") {
        loops->second.of_front_end = true;
      }
    }
  }
}

// [{type, target, ...}], or [{target, constraints: [{type, attributes: {...}}]}].
void TimeloopConstraints::read_list(Reader& reader, const Node& list) {
  for (const Node& item : list.items) {
    const Node* named = value_of(item, "target");
    const Node* target = named != nullptr ? named : value_of(item, "name");
    const Node* several = value_of(item, "constraints");
    if (several == nullptr) {
      read_typed(reader, item, target, item);
      continue;
    }
    for (const Node& each : several->items) {
      const Node* attributes = value_of(each, "attributes");
      read_typed(reader, each, target, attributes == nullptr ? each : *attributes);
    }
  }
}

void TimeloopConstraints::read_typed(Reader& reader, const Node& item, const Node* target,
                                     const Node& node) {
  const Node* type = value_of(item, "type");
  if (type == nullptr || target == nullptr) {
    reader.error(item, "a constraint needs a type and a target");
  } else if (const auto found = find_target(target->text, type->text == "spatial")) {
    read_one(reader, type->text, node, *found);
  } else {
    reader.choice(target, storages_, "storage");  // says what there is
  }
}

// The fanout that a component of version 0.4 makes, if it has instances of its own.
std::optional<TimeloopConstraints::Target> TimeloopConstraints::own_fanout(
    const std::string& name) const {
  const std::string point = timeloop_point_name(name);
  for (std::size_t l = 0; l < storages_.size(); ++l) {
    if (storages_[l] == point || is_among(machine_.storages[l].fanout_names, point)) {
      return Target{l, true, false};
    }
  }
  return std::nullopt;
}

std::optional<TimeloopConstraints::Target> TimeloopConstraints::find_target(const std::string& name,
                                                                            bool spatial) const {
  if (spatial && (of_nodes_.contains(name) || name == machine_.compute_name)) {
    if (const auto own = own_fanout(name)) {
      return own;
    }
  }
  for (std::size_t l = 0; l < storages_.size(); ++l) {
    const TimeloopStorage& storage = machine_.storages[l];
    if (storage.name == name) {
      // The fanout is that of the point or the container below it, then.
      const bool unit =
          spatial &&
          (of_nodes_.contains(name) ||
           std::any_of(storage.fanout_names.begin(), storage.fanout_names.end(),
                       [&](const std::string& each) { return is_among(absorbed_, each); }));
      return Target{l, false, unit};
    }
    if (is_among(storage.fanout_names, name) || is_among(storage.unit_names, name)) {
      return Target{l, true, is_among(storage.unit_names, name)};
    }
  }
  return std::nullopt;
}

void TimeloopConstraints::read_one(Reader& reader, const std::string& type, const Node& node,
                                   const Target& target) {
  if (type == "datatype" || type == "dataspace" || type == "bypass" || type == "bypassing") {
    read_keeps(reader, node, target);
  } else if (type == "spatial" || type == "temporal") {
    read_loops(reader, node, target, type == "spatial");
  } else if (type == "utilization" || type == "parallelism") {
    notes_.lines.push_back(fmt::format("{}: a least {} is left out; the space is wider without it",
                                       storages_[target.level], type));
  } else {
    refuse_all(reader, node, type);
  }
}

// What asks for nothing is no constraint.
void TimeloopConstraints::refuse_all(Reader& reader, const Node& node, const std::string& type) {
  for (const Entry& entry : node.entries) {
    const std::string& key = entry.key.text;
    if (key != "type" && key != "target" && !asks_for_nothing(entry.value)) {
      refuse_key(reader, entry.key, key, type);
    }
  }
}

void TimeloopConstraints::check_keys(Reader& reader, const Node& node, const std::string& type,
                                     const Words& known) {
  for (const Entry* entry : reader.entries(node, fmt::format("a {} constraint", type))) {
    const std::string& key = entry->key.text;
    if (!is_among(known, key) && key != "type" && key != "target" &&
        !asks_for_nothing(entry->value)) {
      refuse_key(reader, entry->key, key, type);
    }
  }
}

// Dims that have no loop, by the data spaces that are iterated over or not.
DimSet TimeloopConstraints::not_iterated(Reader& reader, const Node& node) const {
  DimSet idle;
  const auto dims_of = [&](const Node& list) {
    DimSet dims;
    const TensorSet named = read_timeloop_tensors(reader, list, tensors_);
    for (const TensorId t : workload_.tensors.ids()) {
      dims = named.contains(t) ? dims | workload_.tensors[t].dims() : dims;
    }
    return dims;
  };
  if (const Node* list = value_of(node, "no_iteration_over_dataspaces")) {
    idle = dims_of(*list);
  }
  const Node* list = value_of(node, "must_iterate_over_dataspaces");
  if (list != nullptr && !asks_for_nothing(*list)) {
    const DimSet iterated = dims_of(*list);
    for (const DimId d : workload_.dims.ids()) {
      if (!iterated.contains(d)) {
        idle.insert(d);
      }
    }
  }
  return idle;
}

// factors_only: those that are not named are 1.
TimeloopFactorRules TimeloopConstraints::factors_of(Reader& reader, const Node& node) const {
  const Node* only = value_of(node, "factors_only");
  const Node* factors = only == nullptr           ? value_of(node, "factors")
                        : asks_for_nothing(*only) ? nullptr
                                                  : only;
  std::vector<IgnoredFactor> ignored;
  TimeloopFactorRules rules = read_timeloop_factor_rules(reader, factors, workload_, ignored);
  DimSet free;
  for (const IgnoredFactor& each : ignored) {
    free.insert(each.dim);
    notes_.lines.push_back(
        fmt::format("a constraint {} is ignored, as by Timeloop: the size of {} is {}", each.text,
                    workload_.dims[each.dim].name, workload_.dims[each.dim].bound));
  }
  const DimSet idle = not_iterated(reader, node);
  for (const DimId d : workload_.dims.ids()) {
    if (idle.contains(d) && !rules[d].forbids() && rules[d].factor && !rules[d].at_most) {
      reader.error(node, fmt::format("a factor of {} in a constraint that lets no loop go over it",
                                     workload_.dims[d].name));
    }
    if (idle.contains(d) || (only != nullptr && !rules[d].factor && !free.contains(d))) {
      rules[d] = {1, false};
    }
  }
  return rules;
}

// Where there is one instance, or no loop can be, every factor is 1.
void TimeloopConstraints::demand_ones(Reader& reader, const Node& node,
                                      const TimeloopFactorRules& factors) const {
  for (const DimId d : workload_.dims.ids()) {
    if (factors[d].factor.value_or(1) > 1 && !factors[d].at_most) {
      reader.error(
          node, fmt::format("a factor of {} where there can be no loop", workload_.dims[d].name));
    }
  }
}

void TimeloopConstraints::read_loops(Reader& reader, const Node& node, const Target& target,
                                     bool spatial) {
  const std::string type = spatial ? "spatial" : "temporal";
  Words known{"factors", "permutation", "factors_only", "no_iteration_over_dataspaces",
              "must_iterate_over_dataspaces"};
  if (spatial) {
    known.insert(known.end(), {"split", "maximize_dims"});
  }
  check_keys(reader, node, type, known);
  const TimeloopFactorRules factors = factors_of(reader, node);
  const bool no_loop = target.is_name || is_among(dummies_, storages_[target.level]);
  if (target.is_unit || (no_loop && !spatial)) {
    demand_ones(reader, node, factors);
    return;
  }
  if (const Node* dims = value_of(node, "maximize_dims");
      dims != nullptr && !asks_for_nothing(*dims)) {
    notes_.lines.push_back(fmt::format(
        "{}: 'maximize_dims' is left out; the space is wider without it", storages_[target.level]));
  }
  Loops& all = loops_[{target.level, spatial}];
  if (all.node == nullptr) {
    all.factors = TimeloopFactorRules(workload_.dims.size());
  }
  all.reader = &reader;
  all.node = &node;
  const auto again = [&](const std::string& what) {
    reader.error(node, fmt::format("a second {} in a {} constraint for {}", what, type,
                                   storages_[target.level]));
  };
  for (const DimId d : workload_.dims.ids()) {
    if (factors[d].factor && all.factors[d].factor) {
      again("factor of " + workload_.dims[d].name);
    }
    all.factors[d] = factors[d].factor ? factors[d] : all.factors[d];
  }
  const Node* permutation = value_of(node, "permutation");
  if (permutation != nullptr && !asks_for_nothing(*permutation)) {
    if (all.permutation != nullptr) {
      again("permutation");
    }
    all.permutation = permutation;
    all.permutation_reader = &reader;
  }
  if (const Node* split = value_of(node, "split"); split != nullptr && !asks_for_nothing(*split)) {
    if (all.split != nullptr) {
      again("split");
    }
    all.split = split;
  }
  if (const Node* at = value_of(node, "factors"); at != nullptr && !asks_for_nothing(*at)) {
    all.factors_at = at;
  }
}

TimeloopLoopRule TimeloopConstraints::temporal_rule(const Loops& loops) const {
  TimeloopLoopRule rule;
  rule.factors = loops.factors;
  Reader& reader = loops.permutation_reader != nullptr ? *loops.permutation_reader : *loops.reader;
  const TimeloopOrder order = read_timeloop_order(reader, loops.permutation, workload_);
  for (std::size_t i = order.given; i-- > 0;) {
    rule.innermost.push_back(order.dims[i]);
  }
  return rule;
}

// Factors of 1 forbid a dim. A split says how many dims of the permutation go along X; the rest
// and, in any order, those that the permutation leaves out go along Y (Timeloop keeps the given
// order as a prefix and permutes the others behind it: src/mapspaces/subspaces.cpp).
void TimeloopConstraints::spatial_rule(const Loops& loops, TimeloopConstraint& out) const {
  Reader& reader = *loops.reader;
  const TimeloopFactorRules& factors = loops.factors;
  Reader& order_reader =
      loops.permutation_reader != nullptr ? *loops.permutation_reader : *loops.reader;
  const TimeloopOrder order = read_timeloop_order(order_reader, loops.permutation, workload_);
  const auto along_x = read_whole(reader, loops.split, 0);
  // Without a split, every dim may go along either axis, if there are two.
  const bool x_only = machine_.fanout(out.level, Axis::kY) == 1;
  const bool y_only = machine_.fanout(out.level, Axis::kX) == 1;
  TimeloopAxisRule axes[2];
  std::string open;   // dims that may be unrolled, and that the permutation does not place
  std::string fixed;  // a dim with a factor
  for (std::size_t i = 0; i < order.dims.size(); ++i) {
    const DimId d = order.dims[i];
    if (factors[d].forbids() || workload_.dims[d].bound == 1) {
      continue;
    }
    if (factors[d].factor) {
      fixed = workload_.dims[d].name;
    }
    if (i >= order.given) {
      open += (open.empty() ? "" : ", ") + workload_.dims[d].name;
    }
    const bool before = along_x && i < static_cast<std::size_t>(*along_x);
    for (const std::size_t axis : {0, 1}) {
      const bool there =
          along_x ? before == (axis == 0) : (axis == 0 ? x_only || !y_only : !x_only);
      if (there) {
        axes[axis].dims.insert(d);
      }
    }
  }
  const auto reach = static_cast<std::size_t>(along_x.value_or(0));
  if (!open.empty() && reach > order.given && reach < order.dims.size()) {
    reader.error(
        *loops.split,
        fmt::format("a split of {0}, but the permutation names only {1}: which of {2} go along X "
                    "is not said; name them there, or write a split of at most {1}",
                    reach, order.given, open));
  }
  if (!along_x && !x_only && !y_only && (!fixed.empty() || order.given > 0)) {
    reader.error(*loops.node,
                 fmt::format("{} without a split does not say along which axis it is; write "
                             "'split', the number of dims of the permutation that go along X",
                             fixed.empty() ? "a permutation" : "a factor of " + fixed));
  }
  if (loops.of_front_end && reach > 0 && reach <= order.given && order.given < order.dims.size()) {
    note_split(out.level, reach);
  }
  axes[0].factors = factors;
  axes[1].factors = factors;
  if (along_x || x_only || y_only) {
    check_instances(loops, out.level, axes);
  }
  out.along_x = axes[0];
  out.along_y = axes[1];
}

void TimeloopConstraints::note_split(std::size_t level, std::size_t split) const {
  notes_.lines.push_back(fmt::format(
      "{}: a split of {} counts the dims of the permutation as they are written; Timeloop's front "
      "end first puts those that cannot be unrolled before them, which leaves fewer along X",
      storages_[level], split));
}

// The factors that are given, against the instances along each axis.
void TimeloopConstraints::check_instances(const Loops& loops, std::size_t level,
                                          const TimeloopAxisRule (&axes)[2]) const {
  for (const Axis axis : {Axis::kX, Axis::kY}) {
    const TimeloopAxisRule& rule = axes[static_cast<std::size_t>(axis)];
    const std::int64_t instances = machine_.fanout(level, axis);
    std::int64_t taken = 1;
    Words factors;
    for (const DimId d : workload_.dims.ids()) {
      const TimeloopFactorRule& factor = rule.factors[d];
      if (rule.dims.contains(d) && factor.factor && !factor.at_most && taken <= instances) {
        taken *= *factor.factor;  // below 2^60: instances are not more than 2^20
        factors.push_back(fmt::format("{}={}", workload_.dims[d].name, *factor.factor));
      }
    }
    if (taken > instances) {
      loops.reader->error(
          loops.factors_at != nullptr ? *loops.factors_at : *loops.node,
          fmt::format("{} along {} below {}, which has {} there; 'permutation' and 'split' say "
                      "which dims go along X",
                      joined(factors, " "), to_string(axis), storages_[level],
                      instances == 1 ? "no more than one instance"
                                     : fmt::format("{} instances", instances)));
    }
  }
}

std::vector<TimeloopConstraint> TimeloopConstraints::take() {
  std::vector<TimeloopConstraint> all;
  for (std::size_t l = 0; l < storages_.size(); ++l) {
    TimeloopConstraint constraint;
    constraint.level = l;
    if (is_among(dummies_, storages_[l])) {  // nothing is kept there, and no loop stands there
      constraint.bypass = TensorSet::from_bits((1U << tensors_.size()) - 1);
      constraint.temporal.emplace();
      constraint.temporal->factors = TimeloopFactorRules(workload_.dims.size());
      for (const DimId d : workload_.dims.ids()) {
        constraint.temporal->factors[d].factor = 1;
      }
    } else if (const auto keeps = keeps_.find(l); keeps != keeps_.end()) {
      std::tie(constraint.keep, constraint.bypass) = keeps->second;
    }
    if (is_among(empty_, storages_[l])) {
      constraint.bypass = TensorSet::from_bits((1U << tensors_.size()) - 1);
    }
    const auto temporal = loops_.find({l, false});
    if (temporal != loops_.end() && !constraint.temporal) {
      TimeloopLoopRule rule = temporal_rule(temporal->second);
      const auto speaks = [](const TimeloopFactorRule& each) { return each.factor.has_value(); };
      if (!rule.innermost.empty() ||
          std::any_of(rule.factors.begin(), rule.factors.end(), speaks)) {
        constraint.temporal = std::move(rule);
      }
    }
    const auto spatial = loops_.find({l, true});
    if (spatial != loops_.end()) {
      spatial_rule(spatial->second, constraint);
    }
    if (!constraint.keep.empty() || !constraint.bypass.empty() || constraint.temporal ||
        constraint.along_x) {
      all.push_back(std::move(constraint));
    }
  }
  return all;
}

}  // namespace mapsim
