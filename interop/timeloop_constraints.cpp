// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_loops.hpp"

namespace mapsim {

namespace {

bool is_empty(const Node& node) {
  return node.kind == Node::Kind::kNull ||
         (node.kind == Node::Kind::kSequence && node.items.empty()) ||
         (node.kind == Node::Kind::kMap && node.entries.empty());
}

class ConstraintReader {
 public:
  ConstraintReader(Reader& reader, const TimeloopMachine& machine, const Workload& workload,
                   std::vector<TimeloopConstraint>& out)
      : reader_{reader},
        machine_{machine},
        workload_{workload},
        storages_{names_of(machine.storages)},
        tensors_{names_of(workload.tensors)},
        out_{out} {}

  // [{type, target, ...}]
  void read_list(const Node& list) {
    for (const Node& item : list.items) {
      const Node* type = value_of(item, "type");
      const Node* target = value_of(item, "target");
      if (type == nullptr || target == nullptr) {
        reader_.error(item, "a constraint needs a type and a target");
        continue;
      }
      if (const auto level = reader_.choice(target, storages_, "storage")) {
        read_one(type->text, item, *level);
      }
    }
  }

  // {dataspace: {...}, temporal: {...}, spatial: {...}}
  void read_component(const TimeloopPlacedConstraint& placed) {
    for (const Entry* entry : reader_.entries(*placed.node, "constraints")) {
      const bool around = !placed.above.empty() && entry->key.text == "spatial";
      const auto level =
          std::find(storages_.begin(), storages_.end(), around ? placed.above : placed.target);
      if (level == storages_.end() || (around && is_empty(entry->value))) {
        refuse_all(entry->value, entry->key.text);
      } else {
        read_one(entry->key.text, entry->value,
                 static_cast<std::size_t>(level - storages_.begin()));
      }
    }
  }

 private:
  void read_one(const std::string& type, const Node& node, std::size_t level) {
    if (type == "datatype" || type == "dataspace" || type == "bypass") {
      read_keeps(node, level);
    } else if (type == "spatial") {
      read_spatial(node, level);
    } else if (type == "temporal") {
      read_temporal(node, level);
    } else {
      refuse_all(node, type);
    }
  }

  void refuse(const Node& at, const std::string& key, const std::string& type) {
    reader_.error(at, fmt::format("'{}' of a {} constraint has no counterpart here", key, type));
  }

  // What asks for nothing is no constraint.
  void refuse_all(const Node& node, const std::string& type) {
    for (const Entry& entry : node.entries) {
      const std::string& key = entry.key.text;
      if (key != "type" && key != "target" && !is_empty(entry.value)) {
        refuse(entry.key, key, type);
      }
    }
  }

  void read_keeps(const Node& node, std::size_t level) {
    TimeloopConstraint constraint;
    constraint.level = level;
    for (const Entry* entry : reader_.entries(node, "a map of keep and bypass")) {
      const std::string& key = entry->key.text;
      if (key == "type" || key == "target" || is_empty(entry->value)) {
        continue;
      }
      if (key != "keep" && key != "bypass" && key != "keep_only") {
        refuse(entry->key, key, "dataspace");
        continue;
      }
      TensorSet named;
      for (const std::size_t t : reader_.choice_list(&entry->value, tensors_, "data space")) {
        named.insert(static_cast<TensorId>(t));
      }
      (key == "bypass" ? constraint.bypass : constraint.keep) = named;
      if (key == "keep_only") {
        const std::uint32_t all = (1U << tensors_.size()) - 1;
        constraint.bypass = TensorSet::from_bits(all & ~named.bits());
      }
    }
    out_.push_back(constraint);
  }

  void check_keys(const Node& node, const std::string& type, const Words& known) {
    for (const Entry* entry : reader_.entries(node, fmt::format("a {} constraint", type))) {
      const std::string& key = entry->key.text;
      if (std::find(known.begin(), known.end(), key) == known.end() && !is_empty(entry->value)) {
        refuse(entry->key, key, type);
      }
    }
  }

  void read_temporal(const Node& node, std::size_t level) {
    check_keys(node, "temporal", {"type", "target", "factors", "permutation"});
    TimeloopConstraint constraint;
    constraint.level = level;
    TimeloopLoopRule rule;
    rule.factors = read_timeloop_factor_rules(reader_, value_of(node, "factors"), workload_);
    const TimeloopOrder order =
        read_timeloop_order(reader_, value_of(node, "permutation"), workload_);
    for (std::size_t i = order.given; i-- > 0;) {
      rule.innermost.push_back(order.dims[i]);
    }
    const auto speaks = [](const TimeloopFactorRule& each) { return each.factor.has_value(); };
    if (rule.innermost.empty() && std::none_of(rule.factors.begin(), rule.factors.end(), speaks)) {
      return;
    }
    if (std::any_of(out_.begin(), out_.end(), [&](const TimeloopConstraint& each) {
          return each.level == level && each.temporal;
        })) {
      reader_.error(node, fmt::format("a second temporal constraint for {}", storages_[level]));
    }
    constraint.temporal = rule;
    out_.push_back(constraint);
  }

  // Factors of 1 forbid a dim. A split says how many dims of the permutation go along X; the rest
  // and, in any order, those that the permutation leaves out go along Y (Timeloop keeps the given
  // order as a prefix and permutes the others behind it: src/mapspaces/subspaces.cpp).
  void read_spatial(const Node& node, std::size_t level) {
    check_keys(node, "spatial", {"type", "target", "factors", "permutation", "split"});
    const TimeloopFactorRules factors =
        read_timeloop_factor_rules(reader_, value_of(node, "factors"), workload_);
    const TimeloopOrder order =
        read_timeloop_order(reader_, value_of(node, "permutation"), workload_);
    const Node* split = value_of(node, "split");
    const auto along_x = read_whole(reader_, split, 0);
    // Without a split, every dim may go along either axis, if there are two.
    const bool x_only = machine_.fanout(level, Axis::kY) == 1;
    const bool y_only = machine_.fanout(level, Axis::kX) == 1;
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
      reader_.error(
          *split,
          fmt::format("a split of {0}, but the permutation names only {1}: which of {2} go along X "
                      "is not said; name them there, or write a split of at most {1}",
                      reach, order.given, open));
    }
    if (!along_x && !x_only && !y_only && (!fixed.empty() || order.given > 0)) {
      reader_.error(node, fmt::format("{} without a split: along which axis it is, is not said; "
                                      "write 'split', the number of dims of the permutation that "
                                      "go along X",
                                      fixed.empty() ? "a permutation" : "a factor of " + fixed));
    }
    axes[0].factors = factors;
    axes[1].factors = factors;
    if (const Node* written = value_of(node, "factors"); along_x || x_only || y_only) {
      check_instances(written != nullptr ? *written : node, level, axes);
    }
    TimeloopConstraint constraint;
    constraint.level = level;
    constraint.along_x = axes[0];
    constraint.along_y = axes[1];
    out_.push_back(constraint);
  }

  // The factors that are given, against the instances along each axis.
  void check_instances(const Node& at, std::size_t level, const TimeloopAxisRule (&axes)[2]) {
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      const TimeloopAxisRule& rule = axes[static_cast<std::size_t>(axis)];
      const std::int64_t instances = machine_.fanout(level, axis);
      std::int64_t taken = 1;
      std::vector<std::string> factors;
      for (const DimId d : workload_.dims.ids()) {
        const TimeloopFactorRule& factor = rule.factors[d];
        if (rule.dims.contains(d) && factor.factor && !factor.at_most && taken <= instances) {
          taken *= *factor.factor;  // below 2^60: instances are not more than 2^20
          factors.push_back(fmt::format("{}={}", workload_.dims[d].name, *factor.factor));
        }
      }
      if (taken > instances) {
        reader_.error(at, fmt::format("{} along {} below {}, which has {} there; 'permutation' and "
                                      "'split' say which dims go along X",
                                      joined(factors, " "), to_string(axis), storages_[level],
                                      instances == 1 ? "no more than one instance"
                                                     : fmt::format("{} instances", instances)));
      }
    }
  }

  Reader& reader_;
  const TimeloopMachine& machine_;
  const Workload& workload_;
  Words storages_;
  Words tensors_;
  std::vector<TimeloopConstraint>& out_;
};

}  // namespace

void read_timeloop_constraints(Reader& reader, const Node& section, const TimeloopMachine& machine,
                               const Workload& workload,
                               std::vector<TimeloopConstraint>& constraints) {
  ConstraintReader items{reader, machine, workload, constraints};
  if (section.kind == Node::Kind::kSequence) {
    items.read_list(section);
    return;
  }
  const Fields fields = reader.fields(section, {"version", "template", "targets", "constraints"});
  for (const char* key : {"targets", "constraints"}) {
    if (const Node* list = fields.find(key)) {
      items.read_list(*list);
    }
  }
  if (const Node* kind = fields.find("template"); kind != nullptr && kind->text != "uber") {
    reader.error(*kind, fmt::format("the mapspace template {} is not known here, only 'uber'",
                                    quoted(kind->text)));
  }
}

void read_component_constraints(Reader& reader, const TimeloopPlacedConstraint& placed,
                                const TimeloopMachine& machine, const Workload& workload,
                                std::vector<TimeloopConstraint>& constraints) {
  ConstraintReader{reader, machine, workload, constraints}.read_component(placed);
}

}  // namespace mapsim
