// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

class ConstraintReader {
 public:
  ConstraintReader(Reader& reader, const TimeloopMachine& machine, const Workload& workload,
                   std::vector<TimeloopConstraint>& out)
      : reader_{reader},
        storages_{names_of(machine.storages)},
        tensors_{names_of(workload.tensors)},
        out_{out} {}

  void read_list(const Node& list) {
    for (const Node& item : list.items) {
      const Node* type = value_of(item, "type");
      if (type == nullptr) {
        reader_.error(item, "a constraint without a type");
        continue;
      }
      const Node* target = value_of(item, "target");
      const auto level =
          target == nullptr ? std::nullopt : reader_.choice(target, storages_, "storage");
      if (type->text == "datatype" || type->text == "dataspace" || type->text == "bypass") {
        if (level) {
          read_keeps(item, *level);
        } else if (target == nullptr) {
          reader_.error(item, "a constraint without a target");
        }
      } else {
        refuse(item, type->text);
      }
    }
  }

  void read_component(const std::string& target, const Node& section) {
    const auto level = std::find(storages_.begin(), storages_.end(), target);
    for (const Entry* entry : reader_.entries(section, "constraints")) {
      const std::string& kind = entry->key.text;
      if (kind == "dataspace" && level != storages_.end()) {
        read_keeps(entry->value, static_cast<std::size_t>(level - storages_.begin()));
      } else {
        refuse(entry->value, kind);
      }
    }
  }

 private:
  // A map of nothing but a type and a target, or of empty values, asks for nothing.
  void refuse(const Node& node, const std::string& kind) {
    for (const Entry& entry : node.entries) {
      const std::string& key = entry.key.text;
      const bool empty = entry.value.kind == Node::Kind::kNull ||
                         (entry.value.kind == Node::Kind::kSequence && entry.value.items.empty());
      if (key != "type" && key != "target" && !empty) {
        reader_.error(entry.key, fmt::format("the constraint '{}' of type {} has no counterpart "
                                             "in our constraints",
                                             key, quoted(kind)));
      }
    }
  }

  void read_keeps(const Node& node, std::size_t level) {
    TimeloopConstraint constraint;
    constraint.level = level;
    for (const Entry* entry : reader_.entries(node, "a map of keep and bypass")) {
      const std::string& key = entry->key.text;
      if (key == "type" || key == "target") {
        continue;
      }
      const bool keep = key == "keep" || key == "keep_only";
      if (!keep && key != "bypass") {
        reader_.error(entry->key, fmt::format("the constraint '{}' has no counterpart in our "
                                              "constraints",
                                              key));
        continue;
      }
      const bool empty = entry->value.kind == Node::Kind::kSequence && entry->value.items.empty();
      TensorSet named;
      if (!empty) {
        for (const std::size_t t : reader_.choice_list(&entry->value, tensors_, "data space")) {
          named.insert(static_cast<TensorId>(t));
        }
      }
      (keep ? constraint.keep : constraint.bypass) = named;
      if (key == "keep_only") {
        constraint.bypass = TensorSet::from_bits(((1U << tensors_.size()) - 1) & ~named.bits());
      }
    }
    out_.push_back(constraint);
  }

  Reader& reader_;
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
