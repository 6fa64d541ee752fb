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
  void read_component(const std::string& target, const Node& section) {
    const auto level = std::find(storages_.begin(), storages_.end(), target);
    for (const Entry* entry : reader_.entries(section, "constraints")) {
      if (level == storages_.end()) {
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

  // Factors of 1 forbid a dim; a split says which dims go along X, and which along Y.
  void read_spatial(const Node& node, std::size_t level) {
    for (const Entry* entry : reader_.entries(node, "a spatial constraint")) {
      constexpr std::array kKnown{"type", "target", "factors", "permutation", "split"};
      const std::string& key = entry->key.text;
      if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end() && !is_empty(entry->value)) {
        refuse(entry->key, key, "spatial");
      }
    }
    const auto factors = read_timeloop_factors(reader_, value_of(node, "factors"), workload_);
    const TimeloopOrder order =
        read_timeloop_order(reader_, value_of(node, "permutation"), workload_);
    const Node* split = value_of(node, "split");
    const auto along_x = read_whole(reader_, split, 0);
    TimeloopConstraint constraint;
    constraint.level = level;
    constraint.along_x = DimSet{};
    constraint.along_y = DimSet{};
    for (std::size_t i = 0; i < order.dims.size(); ++i) {
      const DimId d = order.dims[i];
      const std::string& name = workload_.dims[d].name;
      if (factors[d].bound > 1) {
        reader_.error(node, fmt::format("a fixed factor of {} has no counterpart here", name));
      } else if (!factors[d].given && workload_.dims[d].bound > 1) {
        if (along_x && i >= order.given) {
          reader_.error(node, fmt::format("the permutation leaves out {}: on which side of the "
                                          "split it is, is not said",
                                          name));
        }
        if (!along_x || i < static_cast<std::size_t>(*along_x)) {
          constraint.along_x->insert(d);
        }
        if (!along_x || i >= static_cast<std::size_t>(*along_x)) {
          constraint.along_y->insert(d);
        }
      }
    }
    out_.push_back(constraint);
  }

  Reader& reader_;
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
    reader.error(*kind,
                 fmt::format("the mapspace template {} is not known here", quoted(kind->text)));
  }
}

void read_component_constraints(Reader& reader, const std::string& target, const Node& section,
                                const TimeloopMachine& machine, const Workload& workload,
                                std::vector<TimeloopConstraint>& constraints) {
  ConstraintReader{reader, machine, workload, constraints}.read_component(target, section);
}

}  // namespace mapsim
