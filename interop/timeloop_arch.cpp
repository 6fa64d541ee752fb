// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_arch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_components.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

std::int64_t TimeloopMachine::fanout(std::size_t level, Axis axis) const {
  const auto mesh = [axis](const auto& part) {
    return axis == Axis::kX ? part.mesh_x : part.mesh_y;
  };
  const std::int64_t below = level + 1 < storages.size() ? mesh(storages[level + 1]) : mesh(*this);
  return below / mesh(storages[level]);
}

bool TimeloopMachine::has_fanout(std::size_t level) const {
  return fanout(level, Axis::kX) * fanout(level, Axis::kY) > 1;
}

const std::string& TimeloopMachine::child_name(std::size_t level) const {
  return level + 1 < storages.size() ? storages[level + 1].name : compute_name;
}

std::string TimeloopMachine::fanout_name(std::size_t level) const {
  return fmt::format("{}_to_{}", storages[level].name, child_name(level));
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

constexpr std::int64_t kMaxAttribute = std::int64_t{1} << 30;  // products of two fit
constexpr std::int64_t kMaxBlock = std::int64_t{1} << 20;

class ArchReader {
 public:
  ArchReader(Reader& reader, TimeloopArchSection& out) : reader_{reader}, out_{out} {}

  void read(const Node& section) {
    TimeloopComponents components = read_timeloop_components(reader_, section);
    for (const TimeloopComponent& component : components.list) {
      add(component);
    }
    out_.constraints = std::move(components.constraints);
    check_machine(section);
  }

 private:
  TimeloopMachine& machine() { return out_.machine; }

  const Node* attribute(const TimeloopComponent& component,
                        std::initializer_list<const char*> spellings) {
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
  std::optional<std::int64_t> whole(const TimeloopComponent& component,
                                    std::initializer_list<const char*> spellings) {
    const Node* node = attribute(component, spellings);
    const auto value = read_whole(reader_, node, 1);
    if (value && *value > kMaxAttribute) {
      reader_.error(*node, fmt::format("more than {}", kMaxAttribute));
      return std::nullopt;
    }
    return value;
  }
  // Above zero.
  std::optional<double> number(const TimeloopComponent& component,
                               std::initializer_list<const char*> spellings) {
    const Node* node = attribute(component, spellings);
    const auto value = reader_.number(node, 0);
    if (value == 0.0) {
      reader_.error(*node, "not above zero");
      return std::nullopt;
    }
    return value;
  }

  void add(const TimeloopComponent& component) {
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
  std::pair<std::int64_t, std::int64_t> mesh(const TimeloopComponent& component) {
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
    const std::int64_t x = given_x.value_or(
        by_spatial ? component.mesh_x : std::max<std::int64_t>(instances / given_y.value_or(1), 1));
    const std::int64_t y = given_y.value_or(std::max<std::int64_t>(instances / x, 1));
    if (x * y != instances) {
      reader_.error(*component.node, fmt::format("{} instances of {} are no mesh of {} x {}",
                                                 instances, component.name, x, y));
    }
    return {x, y};
  }

  void add_storage(const TimeloopComponent& component) {
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
    storage.block = whole(component, {"block_size", "block-size"})
                        .value_or(std::max<std::int64_t>(width.value_or(0) / storage.word_bits, 1));
    if (storage.word_bits > kMaxElementBits.count() || storage.block > kMaxBlock) {
      reader_.error(*component.node,
                    fmt::format("{} words of {} b", storage.block, storage.word_bits));
    }
    read_capacity(component, storage);
    read_bandwidths(component, storage);
    storage.multiple_buffering =
        number(component, {"multiple_buffering", "multiple-buffering"}).value_or(1);
    if (storage.words && static_cast<double>(*storage.words) < storage.multiple_buffering) {
      reader_.error(*component.node, "no word is left of its buffers");
    }
    storage.energy_per_hop =
        reader_.number(attribute(component, {"energy_per_hop", "energy-per-hop"}), 0);
    machine().storages.push_back(storage);
  }

  void read_capacity(const TimeloopComponent& component, TimeloopStorage& storage) {
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
    } else if (kilobytes && *kilobytes < kMaxAttribute) {
      storage.words = static_cast<std::int64_t>(*kilobytes * 1024 * 8) / storage.word_bits;
    } else {
      out_.notes.push_back(fmt::format("{}: no size given: unlimited", component.name));
    }
  }

  void read_bandwidths(const TimeloopComponent& component, TimeloopStorage& storage) {
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
  }

  void add_compute(const TimeloopComponent& component) {
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

  void note_the_rest(const TimeloopComponent& component) {
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
      } else if (const auto value = reader_.number(&entry->value, 0);
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
    std::set<std::string> names;
    const auto inside = [&](const std::string& inner, std::int64_t x, std::int64_t y) {
      if (x % around.first != 0 || y % around.second != 0) {
        reader_.error(section, fmt::format("{} x {} instances of {} cannot be shared out among "
                                           "{} x {} of {}",
                                           x, y, inner, around.first, around.second, name));
      }
      around = {x, y};
      name = inner;
      if (!is_name(inner) || !names.insert(inner).second) {
        reader_.error(section, fmt::format("{} cannot be the name of one storage or compute unit",
                                           quoted(inner)));
      }
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
