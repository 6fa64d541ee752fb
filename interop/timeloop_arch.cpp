// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_arch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

std::int64_t TimeloopMachine::fanout(std::size_t level, Axis axis) const {
  const auto mesh = [axis](const auto& part) {
    return axis == Axis::kX ? part.mesh_x : part.mesh_y;
  };
  const std::int64_t below = level + 1 < storages.size() ? mesh(storages[level + 1]) : mesh(*this);
  return below / mesh(storages[level]);
}

namespace {

enum class ComponentKind : std::uint8_t { kStorage, kCompute, kNetwork, kUnknown };

// A word in a class, and what such a class is. The first that fits.
struct ClassWord {
  std::string_view word;
  ComponentKind kind;
};
constexpr std::array kClassWords{ClassWord{"noc", ComponentKind::kNetwork},
                                 ClassWord{"network", ComponentKind::kNetwork},
                                 ClassWord{"wire", ComponentKind::kNetwork},
                                 ClassWord{"legacy", ComponentKind::kNetwork},
                                 ClassWord{"multicast", ComponentKind::kNetwork},
                                 ClassWord{"reduction", ComponentKind::kNetwork},
                                 ClassWord{"dram", ComponentKind::kStorage},
                                 ClassWord{"sram", ComponentKind::kStorage},
                                 ClassWord{"regfile", ComponentKind::kStorage},
                                 ClassWord{"smartbuffer", ComponentKind::kStorage},
                                 ClassWord{"storage", ComponentKind::kStorage},
                                 ClassWord{"buffet", ComponentKind::kStorage},
                                 ClassWord{"register", ComponentKind::kStorage},
                                 ClassWord{"buffer", ComponentKind::kStorage},
                                 ClassWord{"mac", ComponentKind::kCompute},
                                 ClassWord{"compute", ComponentKind::kCompute},
                                 ClassWord{"multiplier", ComponentKind::kCompute}};

ComponentKind kind_of(std::string klass) {
  std::transform(klass.begin(), klass.end(), klass.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const ClassWord& each : kClassWords) {
    if (klass.find(each.word) != std::string::npos) {
      return each.kind;
    }
  }
  return ComponentKind::kUnknown;
}

// Attributes that would change counts, cycles or energies in a way that we do not model, and the
// only value that changes nothing.
struct Neutral {
  std::string_view name;
  double value;
};
constexpr std::array kNeutral{Neutral{"addr_gen_energy", 0},
                              Neutral{"addr-gen-energy", 0},
                              Neutral{"min_utilization", 0},
                              Neutral{"min-utilization", 0},
                              Neutral{"cluster_size", 1},
                              Neutral{"cluster-size", 1},
                              Neutral{"overflow", 0},
                              Neutral{"router_energy", 0},
                              Neutral{"network_fill_latency", 0},
                              Neutral{"network_drain_latency", 0}};

struct Component {
  std::string name;
  std::string klass;
  const Node* node = nullptr;            // where it is written
  std::vector<const Entry*> attributes;  // the innermost first
  std::int64_t instances = 1;            // by the ranges and meshes around it
  std::int64_t mesh_x = 1;               // by spatial: {meshX, meshY}
  std::int64_t mesh_y = 1;
};

class ArchReader {
 public:
  ArchReader(Reader& reader, TimeloopArchSection& out) : reader_{reader}, out_{out} {}

  void read(const Node& section) {
    if (value_of(section, "arithmetic") != nullptr || value_of(section, "storage") != nullptr) {
      read_flat(section);
    } else if (value_of(section, "nodes") != nullptr) {
      const Fields fields = reader_.fields(section, {"version", "nodes"});
      if (const Node* nodes = fields.require("nodes")) {
        Component around;
        read_nodes(*nodes, around);
      }
    } else {
      const Fields fields = reader_.fields(section, {"version", "subtree"});
      if (const Node* subtree = fields.require("subtree")) {
        read_subtree(*subtree, {});
      }
    }
    check_machine(section);
  }

 private:
  TimeloopMachine& machine() { return out_.machine; }

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
    Component component;
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
    add(component);
  }

  // [{name, attributes, local: [...], subtree: [...]}]: ranges in names multiply.
  void read_subtree(const Node& list, const Component& around) {
    const std::vector<const Node*> items = reader_.items(list, "a list of one subtree");
    if (items.size() > 1) {
      reader_.error(*items[1], "a second subtree beside the first: one chain of storages is known");
    }
    const Fields fields =
        reader_.fields(*items.front(), {"name", "attributes", "local", "subtree", "nodes"});
    Component here = around;
    const auto name = reader_.text(fields.require("name"), "a name");
    here.instances *= range_of(name.value_or(""), fields.place("name"));
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

  void read_local(const Node& node, const Component& around) {
    const Fields fields = reader_.fields(node, {"name", "class", "subclass", "attributes"});
    Component component = around;
    component.node = &node;
    const auto name = reader_.text(fields.require("name"), "a name").value_or("");
    component.name = name.substr(0, name.find('['));
    component.instances *= range_of(name, fields.place("name"));
    component.klass = reader_.text(fields.require("class"), "a class").value_or("");
    inherit(component, fields.find("attributes"));
    add(component);
  }

  // Version 0.4: a list in which every node lies inside of the ones before it.
  void read_nodes(const Node& list, Component& around) {
    for (const Node* item : reader_.items(list, "a list of nodes")) {
      if (item->tag == "!Hierarchical") {
        const Fields fields = reader_.fields(*item, {"nodes", "name"});
        if (const Node* nodes = fields.require("nodes")) {
          read_nodes(*nodes, around);
        }
      } else if (item->tag == "!Container" || item->tag == "!Component") {
        read_tagged(*item, around);
      } else {
        reader_.error(*item, fmt::format("a node {}; only !Container and !Component, one inside "
                                         "of the other, are known here",
                                         item->tag.empty() ? "without a tag" : item->tag));
      }
    }
  }

  void read_tagged(const Node& node, Component& around) {
    const Fields fields =
        reader_.fields(node, {"name", "class", "subclass", "attributes", "spatial", "constraints",
                              "required_actions", "actions", "enabled", "area_scale",
                              "energy_scale", "sparse_optimizations"});
    for (const char* key : {"enabled", "area_scale", "energy_scale", "sparse_optimizations"}) {
      const Node* value = fields.find(key);
      const bool neutral =
          value == nullptr ||
          (value->kind == Node::Kind::kScalar &&
           (value->text == "true" || value->text == "1" || value->text == "1.0")) ||
          (value->kind == Node::Kind::kMap && value->entries.empty()) ||
          (value->kind == Node::Kind::kSequence && value->items.empty());
      if (!neutral) {
        reader_.error(fields.place(key), fmt::format("'{}' is not known here", key));
      }
    }
    read_spatial(fields.find("spatial"), around);
    const bool component = node.tag == "!Component";
    Component here = around;
    inherit(here, fields.find("attributes"));
    const auto name = reader_.text(fields.require("name"), "a name").value_or("");
    if (component) {
      here.node = &node;
      here.name = name;
      here.klass = reader_.text(fields.require("class"), "a class").value_or("");
      add(here);
    } else {
      around = here;
    }
    if (const Node* constraints = fields.find("constraints")) {
      out_.constraints.push_back({name, constraints});
    }
  }

  void read_spatial(const Node* node, Component& around) {
    if (node == nullptr) {
      return;
    }
    const Fields fields = reader_.fields(*node, {"meshX", "meshY"});
    around.mesh_x *= read_whole(reader_, fields.find("meshX"), 1).value_or(1);
    around.mesh_y *= read_whole(reader_, fields.find("meshY"), 1).value_or(1);
  }

  void inherit(Component& component, const Node* attributes) {
    if (attributes == nullptr) {
      return;
    }
    const std::vector<const Entry*> own = reader_.entries(*attributes, "a map of attributes");
    component.attributes.insert(component.attributes.begin(), own.begin(), own.end());
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

  const Node* attribute(const Component& component, std::initializer_list<const char*> spellings) {
    for (const Entry* entry : component.attributes) {
      for (const char* spelling : spellings) {
        if (entry->key.text == spelling) {
          used_.push_back(entry->key.text);
          return &entry->value;
        }
      }
    }
    return nullptr;
  }
  std::optional<std::int64_t> whole(const Component& component,
                                    std::initializer_list<const char*> spellings) {
    return read_whole(reader_, attribute(component, spellings), 0);
  }
  std::optional<double> number(const Component& component,
                               std::initializer_list<const char*> spellings) {
    return read_number(reader_, attribute(component, spellings), 0);
  }

  void add(const Component& component) {
    if (component.node == nullptr) {
      return;
    }
    used_.clear();
    switch (kind_of(component.klass)) {
      case ComponentKind::kStorage:
        add_storage(component);
        break;
      case ComponentKind::kCompute:
        add_compute(component);
        break;
      case ComponentKind::kNetwork:
        out_.notes.push_back(fmt::format("{}: networks are not described apart", component.name));
        return;
      case ComponentKind::kUnknown:
        reader_.error(*component.node,
                      fmt::format("the class {} of {} is neither a storage nor a compute unit",
                                  quoted(component.klass), component.name));
        return;
    }
    note_the_rest(component);
  }

  // Instances along X and Y of the whole machine.
  std::pair<std::int64_t, std::int64_t> mesh(const Component& component) {
    const std::int64_t around = component.instances * component.mesh_x * component.mesh_y;
    const std::int64_t instances = whole(component, {"instances"}).value_or(around);
    if (around != 1 && instances != around) {
      reader_.error(*component.node, fmt::format("{} instances of {} by its attributes, {} by its "
                                                 "place",
                                                 instances, component.name, around));
    }
    const auto given_x = whole(component, {"meshX"});
    const auto given_y = whole(component, {"meshY"});
    const bool by_spatial = component.mesh_x * component.mesh_y == instances && !given_x;
    const std::int64_t x =
        given_x ? *given_x : (by_spatial ? component.mesh_x : instances / given_y.value_or(1));
    const std::int64_t y = given_y ? *given_y : instances / std::max<std::int64_t>(x, 1);
    if (x * y != instances) {
      reader_.error(*component.node, fmt::format("{} instances of {} are no mesh of {} x {}",
                                                 instances, component.name, x, y));
    }
    return {std::max<std::int64_t>(x, 1), std::max<std::int64_t>(y, 1)};
  }

  void add_storage(const Component& component) {
    if (!machine().compute_name.empty()) {
      reader_.error(*component.node, "a storage inside of the compute unit");
      return;
    }
    TimeloopStorage storage;
    storage.name = component.name;
    std::tie(storage.mesh_x, storage.mesh_y) = mesh(component);
    storage.word_bits =
        whole(component, {"word_bits", "word-bits", "word_width", "datawidth"}).value_or(8);
    const auto width = whole(component, {"width", "memory_width"});
    storage.block = std::max<std::int64_t>(
        whole(component, {"block_size", "block-size"})
            .value_or(width ? *width / std::max<std::int64_t>(storage.word_bits, 1) : 1),
        1);
    read_capacity(component, storage);
    read_bandwidths(component, storage);
    storage.multiple_buffering =
        number(component, {"multiple_buffering", "multiple-buffering"}).value_or(1);
    storage.energy_per_hop = number(component, {"energy_per_hop", "energy-per-hop"}).value_or(0);
    machine().storages.push_back(storage);
  }

  void read_capacity(const Component& component, TimeloopStorage& storage) {
    const auto entries = whole(component, {"entries"});
    const auto depth = whole(component, {"depth", "memory_depth"});
    const auto kilobytes = number(component, {"sizeKB"});
    if (kind_of(component.klass) == ComponentKind::kStorage &&
        component.klass.find("DRAM") != std::string::npos) {
      return;  // unlimited, whatever the depth
    }
    if (entries) {
      storage.words = *entries;
    } else if (depth) {
      storage.words = *depth * storage.block;
    } else if (kilobytes) {
      storage.words = static_cast<std::int64_t>(*kilobytes * 1024 * 8) / storage.word_bits;
    } else {
      out_.notes.push_back(fmt::format("{}: no size given: unlimited", component.name));
    }
  }

  void read_bandwidths(const Component& component, TimeloopStorage& storage) {
    storage.read_bandwidth = number(component, {"read_bandwidth", "read-bandwidth"});
    storage.write_bandwidth = number(component, {"write_bandwidth", "write-bandwidth"});
    storage.shared_bandwidth = number(component, {"shared_bandwidth", "shared-bandwidth"});
    if (const auto both = number(component, {"bandwidth"})) {
      storage.read_bandwidth = *both / 2;
      storage.write_bandwidth = *both / 2;
    }
    if (storage.shared_bandwidth && (storage.read_bandwidth || storage.write_bandwidth)) {
      reader_.error(*component.node, "a shared bandwidth beside one of reads or writes");
    }
    for (const auto* bandwidth :
         {&storage.read_bandwidth, &storage.write_bandwidth, &storage.shared_bandwidth}) {
      if (*bandwidth == 0.0) {
        reader_.error(*component.node, "a bandwidth of 0");
      }
    }
  }

  void add_compute(const Component& component) {
    if (!machine().compute_name.empty()) {
      reader_.error(*component.node,
                    fmt::format("a second compute unit after {}", machine().compute_name));
      return;
    }
    machine().compute_name = component.name;
    std::tie(machine().mesh_x, machine().mesh_y) = mesh(component);
    machine().compute_bits =
        whole(component, {"word_bits", "word-bits", "word_width", "datawidth"}).value_or(8);
  }

  void note_the_rest(const Component& component) {
    std::vector<std::string> seen;
    for (const Entry* entry : component.attributes) {
      const std::string& key = entry->key.text;
      if (std::find(used_.begin(), used_.end(), key) != used_.end() ||
          std::find(seen.begin(), seen.end(), key) != seen.end()) {
        continue;
      }
      seen.push_back(key);
      const auto neutral = std::find_if(kNeutral.begin(), kNeutral.end(),
                                        [&](const Neutral& each) { return each.name == key; });
      if (neutral == kNeutral.end()) {
        out_.notes.push_back(fmt::format("{}: {} ({}) has no part in counts", component.name, key,
                                         describe(entry->value)));
      } else if (const auto value = read_number(reader_, &entry->value, 0);
                 value && *value != neutral->value) {
        reader_.error(entry->value,
                      fmt::format("'{}' other than {} is not known here", key, neutral->value));
      }
    }
  }

  void check_machine(const Node& section) {
    if (machine().storages.empty() || machine().compute_name.empty()) {
      reader_.error(section, machine().storages.empty() ? "no storage" : "no compute unit");
      return;
    }
    machine().name = "imported";
    std::pair<std::int64_t, std::int64_t> around{1, 1};
    std::string name;
    const auto inside = [&](const std::string& inner, std::int64_t x, std::int64_t y) {
      if (x % around.first != 0 || y % around.second != 0) {
        reader_.error(section, fmt::format("{} x {} instances of {} cannot be shared out among "
                                           "{} x {} of {}",
                                           x, y, inner, around.first, around.second, name));
      }
      around = {x, y};
      name = inner;
    };
    for (const TimeloopStorage& storage : machine().storages) {
      inside(storage.name, storage.mesh_x, storage.mesh_y);
    }
    inside(machine().compute_name, machine().mesh_x, machine().mesh_y);
  }

  Reader& reader_;
  TimeloopArchSection& out_;
  std::vector<std::string> used_;  // attributes of this component that have a meaning
};

}  // namespace

TimeloopArchSection read_timeloop_arch(Reader& reader, const Node& section) {
  TimeloopArchSection out;
  ArchReader{reader, out}.read(section);
  return out;
}

}  // namespace mapsim
