// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_components.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

// By ranges, along X, and along Y: their product stays a whole number.
constexpr std::int64_t kMaxInstances = std::int64_t{1} << 20;

class ComponentReader {
 public:
  explicit ComponentReader(Reader& reader) : reader_{reader} {}

  TimeloopComponents read(const Node& section) {
    const Node* version = value_of(section, "version");
    const Words known{"0.2", "0.3", "0.4"};  // src/model/engine.cpp
    if (version != nullptr && std::find(known.begin(), known.end(), version->text) == known.end()) {
      reader_.error(*version, fmt::format("Timeloop knows no version {}, but {}",
                                          quoted(version->text), fmt::join(known, ", ")));
    }
    if (value_of(section, "arithmetic") != nullptr || value_of(section, "storage") != nullptr) {
      read_flat(section);
    } else if (value_of(section, "nodes") != nullptr) {
      const Fields fields = reader_.fields(section, {"version", "nodes"});
      if (const Node* nodes = fields.require("nodes")) {
        TimeloopComponent around;
        read_nodes(*nodes, around);
      }
    } else {
      const Fields fields = reader_.fields(section, {"version", "subtree"});
      if (const Node* subtree = fields.require("subtree")) {
        read_subtree(*subtree, {});
      }
    }
    return std::move(out_);
  }

 private:
  // {arithmetic: {...}, storage: [innermost first]}: the instances of the whole machine are given.
  void read_flat(const Node& section) {
    const Fields fields = reader_.fields(section, {"version", "arithmetic", "storage"});
    const Node* storage = fields.require("storage");
    const Node* arithmetic = fields.require("arithmetic");
    if (storage == nullptr || arithmetic == nullptr) {
      return;
    }
    const std::vector<const Node*> items = reader_.items(*storage, "a list of storages");
    for (std::size_t i = items.size(); i-- > 0;) {
      add_flat(*items[i], "SRAM");
    }
    add_flat(*arithmetic, "mac");
  }

  void add_flat(const Node& node, const char* klass) {
    TimeloopComponent component;
    component.name =
        value_of(node, "name") == nullptr && std::string_view{klass} == "mac" ? "MAC" : "";
    component.node = &node;
    component.klass = klass;
    for (const Entry* entry : reader_.entries(node, "a map of attributes")) {
      if (entry->key.text == "name") {
        component.name = reader_.name(&entry->value).value_or("");
      } else if (entry->key.text == "technology" && entry->value.text == "DRAM") {
        component.klass = "DRAM";
      } else {
        component.attributes.push_back(entry);
      }
    }
    component.own = component.attributes.size();
    out_.list.push_back(component);
  }

  // [{name, attributes, local: [...], subtree: [...]}]: ranges in names multiply.
  void read_subtree(const Node& list, const TimeloopComponent& around) {
    const std::vector<const Node*> items = reader_.items(list, "a list of one subtree");
    if (items.size() > 1) {
      reader_.error(*items[1], "a second subtree beside the first: one chain of storages is known");
    }
    if (items.empty()) {
      return;
    }
    const Fields fields =
        reader_.fields(*items.front(), {"name", "attributes", "local", "subtree"});
    TimeloopComponent here = around;
    const auto name = reader_.text(fields.require("name"), "a name");
    multiply(here, here.instances, range_of(name.value_or(""), fields.place("name")),
             fields.place("name"));
    inherit(here, fields.find("attributes"));
    if (const Node* local = fields.find("local")) {
      for (const Node* item : reader_.items(*local, "a list of components")) {
        read_local(*item, here);
      }
    }
    if (const Node* subtree = fields.find("subtree")) {
      read_subtree(*subtree, here);
    }
  }

  void read_local(const Node& node, const TimeloopComponent& around) {
    const Fields fields =
        reader_.fields(node, {"name", "class", "subclass", "attributes", "constraints",
                              "required_actions", "actions", "enabled", "area_share", "area_scale",
                              "energy_scale", "sparse_optimizations", "networks"});
    check_demands(fields);
    TimeloopComponent component = around;
    component.node = &node;
    const auto name = reader_.text(fields.require("name"), "a name").value_or("");
    component.name = name.substr(0, name.find('['));
    multiply(component, component.instances, range_of(name, fields.place("name")),
             fields.place("name"));
    component.klass = reader_.text(fields.require("class"), "a class").value_or("");
    component.subclass = subclass_of(fields);
    inherit(component, fields.find("attributes"));
    out_.list.push_back(component);
    add_sparse(component.name, fields);
    if (const Node* constraints = fields.find("constraints")) {
      TimeloopPlacedConstraint placed;
      placed.target = component.name;
      placed.node = constraints;
      out_.constraints.push_back(placed);
    }
  }

  void add_sparse(const std::string& name, const Fields& fields) {
    const Node* sparse = fields.find("sparse_optimizations");
    if (sparse != nullptr && !(sparse->entries.empty() && sparse->items.empty())) {
      out_.sparse.push_back({name, sparse});
    }
  }

  // What the front end writes out even where it asks for nothing.
  void check_demands(const Fields& fields) {
    for (const char* key : {"enabled", "area_share", "area_scale", "energy_scale", "networks"}) {
      const Node* value = fields.find(key);
      const bool neutral =
          value == nullptr ||
          (value->kind == Node::Kind::kScalar &&
           (foreign_boolean(value->text) == true || value->text == "1" || value->text == "1.0")) ||
          (value->kind != Node::Kind::kScalar && value->entries.empty() && value->items.empty());
      if (!neutral) {
        reader_.error(fields.place(key), fmt::format("'{}' is not known here", key));
      }
    }
  }

  // The front end hands on nothing of such a node.
  static bool is_disabled(const Node& node) {
    const Node* enabled = value_of(node, "enabled");
    return enabled != nullptr && foreign_boolean(enabled->text) == false;
  }

  // Version 0.4: a list in which every node lies inside of the ones before it.
  void read_nodes(const Node& list, TimeloopComponent& around) {
    for (const Node* item : reader_.items(list, "a list of nodes")) {
      if (is_disabled(*item)) {
        continue;
      }
      if (item->tag == "!Hierarchical" || item->tag == "!Pipelined") {  // flattened alike
        const Fields fields = reader_.fields(*item, {"nodes", "name", "enabled"});
        if (const Node* nodes = fields.require("nodes")) {
          read_nodes(*nodes, around);
        }
      } else if (item->tag == "!Parallel") {
        read_parallel(*item, around);
      } else if (item->tag == "!Container" || item->tag == "!Component") {
        read_tagged(*item, around);
      } else {
        reader_.error(*item, fmt::format("a node {}; known here are !Container, !Component, "
                                         "!Hierarchical, !Pipelined and !Parallel",
                                         item->tag.empty() ? "without a tag" : item->tag));
      }
    }
  }

  // Components side by side, each for other tensors: one after the other, where each bypasses what
  // it does not keep. That is how the front end hands them to Timeloop.
  void read_parallel(const Node& node, const TimeloopComponent& around) {
    const Fields fields = reader_.fields(node, {"nodes", "name", "enabled"});
    const Node* nodes = fields.require("nodes");
    TimeloopPlacedConstraint parallel;
    parallel.node = &node;
    for (const Node* item :
         nodes == nullptr ? std::vector<const Node*>{} : reader_.items(*nodes, "a list of nodes")) {
      const Node* name = value_of(*item, "name");
      const Node* keep = kept_by(*item);
      if (is_disabled(*item)) {
        if (keep != nullptr) {
          parallel.branches.push_back({"", keep});
        }
      } else if (keep == nullptr) {
        reader_.error(*item,
                      "a branch of !Parallel says what it keeps: constraints: {dataspace: "
                      "{keep: [...]}}");
      } else if (item->tag == "!Component") {
        TimeloopComponent inside = around;
        read_tagged(*item, inside);
        if (inside.mesh_x != around.mesh_x || inside.mesh_y != around.mesh_y) {
          reader_.error(*item,
                        "a branch of !Parallel has no instances of its own, in Timeloop's "
                        "front end either");
        }
        parallel.branches.push_back({name == nullptr ? "" : name->text, keep});
      } else if (item->tag == "!Nothing") {
        parallel.branches.push_back({"", keep});
      } else {
        reader_.error(*item, "a branch of !Parallel is a !Component or !Nothing here");
      }
    }
    if (!parallel.branches.empty()) {
      out_.constraints.push_back(parallel);
    }
  }

  static const Node* kept_by(const Node& node) {
    const Node* at = &node;
    for (const char* key : {"constraints", "dataspace"}) {
      at = at == nullptr ? nullptr : value_of(*at, key);
    }
    const Node* only = at == nullptr ? nullptr : value_of(*at, "keep_only");
    return at == nullptr || only != nullptr ? only : value_of(*at, "keep");
  }

  void read_tagged(const Node& node, TimeloopComponent& around) {
    const Fields fields =
        reader_.fields(node, {"name", "class", "subclass", "attributes", "spatial", "constraints",
                              "required_actions", "actions", "enabled", "area_share", "area_scale",
                              "energy_scale", "sparse_optimizations", "networks"});
    check_demands(fields);
    const TimeloopComponent before = around;
    read_spatial(fields.find("spatial"), around);
    const bool component = node.tag == "!Component";
    TimeloopComponent here = around;
    inherit(here, fields.find("attributes"));
    const auto name = reader_.text(fields.require("name"), "a name").value_or("");
    std::string above;
    if (component) {
      above = own_fanout(name, before, around);
      here.of_nodes = true;
      here.node = &node;
      here.name = name;
      here.klass = reader_.text(fields.require("class"), "a class").value_or("");
      here.subclass = subclass_of(fields);
      out_.list.push_back(here);
      unrolled_ = false;
    } else {
      around = here;
      above = fanout_below(name, timeloop_point_name(name), before, around);
    }
    add_sparse(name, fields);
    if (const Node* constraints = fields.find("constraints")) {
      TimeloopPlacedConstraint placed;
      placed.target = name;
      placed.node = constraints;
      placed.above = above;
      out_.constraints.push_back(placed);
    }
  }

  std::string subclass_of(const Fields& fields) {
    return fields.has("subclass") ? reader_.text(fields.find("subclass"), "a class").value_or("")
                                  : "";
  }

  // The same of a component that has instances of its own.
  std::string own_fanout(const std::string& name, const TimeloopComponent& before,
                         const TimeloopComponent& around) {
    const bool unrolls = around.mesh_x != before.mesh_x || around.mesh_y != before.mesh_y;
    const std::string point = timeloop_point_name(name);  // its own name is that of the storage
    return unrolls ? fanout_below(point, point, before, around) : "";
  }

  // What is above the fanout that a container makes. Of two containers below one storage, each has
  // rules of its own: a point between them, which keeps nothing, holds them apart (as in what the
  // front end writes).
  std::string fanout_below(const std::string& name, const std::string& point_name,
                           const TimeloopComponent& before, const TimeloopComponent& around) {
    if (out_.list.empty()) {
      return "";
    }
    const bool unrolls = around.mesh_x != before.mesh_x || around.mesh_y != before.mesh_y;
    if (unrolls && unrolled_) {
      TimeloopComponent point = before;
      point.attributes.clear();
      point.node = out_.list.back().node;
      point.name = point_name;
      point.klass = "dummy_storage";
      out_.list.push_back(point);
    }
    TimeloopComponent& last = out_.list.back();
    if (!unrolls) {
      last.unit_names.push_back(name);
      return unrolled_ ? "" : last.name;
    }
    unrolled_ = true;
    last.unit_names.insert(last.unit_names.end(), last.fanout_names.begin(),
                           last.fanout_names.end());
    last.fanout_names = {name};
    if (name != point_name && last.name != point_name) {
      last.fanout_names.push_back(point_name);
    }
    return last.name;
  }

  void read_spatial(const Node* node, TimeloopComponent& around) {
    if (node == nullptr) {
      return;
    }
    const Fields fields = reader_.fields(*node, {"meshX", "meshY"});
    multiply(around, around.mesh_x, read_whole(reader_, fields.find("meshX"), 1).value_or(1),
             *node);
    multiply(around, around.mesh_y, read_whole(reader_, fields.find("meshY"), 1).value_or(1),
             *node);
  }

  void multiply(TimeloopComponent& component, std::int64_t& instances, std::int64_t factor,
                const Node& at) {
    component.multiplied_at = factor > 1 ? &at : component.multiplied_at;
    if (factor > kMaxInstances / instances) {
      reader_.error(at, "too many instances");
    } else {
      instances *= factor;
    }
  }

  void inherit(TimeloopComponent& component, const Node* attributes) {
    component.own = 0;
    if (attributes == nullptr) {
      return;
    }
    const std::vector<const Entry*> own = reader_.entries(*attributes, "a map of attributes");
    component.attributes.insert(component.attributes.begin(), own.begin(), own.end());
    component.own = own.size();
  }

  // PE[0..167] -> 168
  std::int64_t range_of(const std::string& name, const Node& at) {
    const std::size_t open = name.find('[');
    if (open == std::string::npos) {
      return 1;
    }
    const std::size_t dots = name.find("..", open);
    const std::size_t close = name.find(']', open);
    if (dots == std::string::npos || close == std::string::npos || close < dots) {
      reader_.error(at, fmt::format("expected a range like PE[0..7], not {}", quoted(name)));
      return 1;
    }
    const auto first =
        reader_.integer_in(at, 0, name.substr(open + 1, dots - open - 1), 0, kMaxInteger);
    const auto last =
        reader_.integer_in(at, 0, name.substr(dots + 2, close - dots - 2), 0, kMaxInteger);
    return first && last && *last >= *first ? *last - *first + 1 : 1;
  }

  Reader& reader_;
  TimeloopComponents out_;
  bool unrolled_ = false;  // since the last component, by a container
};

}  // namespace

std::string timeloop_point_name(const std::string& node) {
  return fmt::format("inter_{}_spatial", node);
}

bool is_timeloop_point(const std::string& name) {
  return name.starts_with("inter_") && name.ends_with("_spatial");
}

std::string timeloop_fanout_name(const std::string& above, const std::string& below) {
  return fmt::format("{}_to_{}", above, below);
}

TimeloopComponents read_timeloop_components(Reader& reader, const Node& section) {
  return ComponentReader{reader}.read(section);
}

}  // namespace mapsim
