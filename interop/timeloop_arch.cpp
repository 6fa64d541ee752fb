// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_arch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_attributes.hpp"
#include "interop/timeloop_classes.hpp"
#include "interop/timeloop_components.hpp"
#include "interop/timeloop_wires.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

namespace {

// What Timeloop reads (32 b), and with a word of one bit still a capacity here.
constexpr std::int64_t kDefaultWordBits = 16;  // Timeloop: BufferLevel::Specs, kDefaultWordBits
constexpr double kMaxKilobytes = 4294967295.0;
constexpr std::int64_t kMaxBlock = std::int64_t{1} << 20;
constexpr double kMinCycleSeconds = 1e-12;
constexpr double kMaxCycleSeconds = 1;
constexpr double kSquareMicrometres = 1e6;  // in 1 mm^2

class ArchReader {
 public:
  ArchReader(Reader& reader, TimeloopArchSection& out) : reader_{reader}, out_{out} {}

  void read(const Node& section) {
    TimeloopComponents components = read_timeloop_components(reader_, section);
    // The compute units are innermost wherever a list names them (Topology::ParseTreeSpecs).
    std::stable_partition(components.list.begin(), components.list.end(),
                          [](const TimeloopComponent& each) {
                            return timeloop_kind_of(each.klass) != ComponentKind::kCompute;
                          });
    for (const TimeloopComponent& component : components.list) {
      add(component);
    }
    out_.constraints = std::move(components.constraints);
    out_.sparse = std::move(components.sparse);
    check_machine(section);
  }

 private:
  TimeloopMachine& machine() { return out_.machine; }

  void add(const TimeloopComponent& component) {
    TimeloopAttributes attributes{reader_, component};
    const ComponentKind kind = timeloop_kind_of(component.klass);
    read_timeloop_cycle(reader_, attributes.find({"global_cycle_seconds"}), component.name, out_);
    switch (kind) {
      case ComponentKind::kStorage:
        add_storage(component, attributes);
        if (out_.absorbed.contains(component.name)) {
          return;  // its attributes are those of no storage
        }
        break;
      case ComponentKind::kCompute:
        add_compute(component, attributes);
        break;
      case ComponentKind::kNetwork:
        add_network(component);
        return;
      case ComponentKind::kUnknown:
        reader_.error(*component.node,
                      fmt::format("the class {} of {} is neither a storage nor a compute unit",
                                  quoted(component.klass), component.name));
        return;
    }
    if (const std::string guess = timeloop_class_guess(component.klass); !guess.empty()) {
      out_.placed.emplace_back(component.node, fmt::format("{}: {}", component.name, guess));
    }
    read_material(component);
    for (const Entry* each : attributes.unread()) {
      out_.unread.push_back({component.name, each});
    }
    attributes.finish(kind == ComponentKind::kCompute, out_.notes, seen_);
  }

  void add_network(const TimeloopComponent& component) {
    if (is_wire(component.name)) {
      const Node* technology = first_of(component, {"technology"});
      out_.wire = component.node;
      out_.wire_technology = technology == nullptr ? "" : technology->text;
      return;
    }
    out_.placed.emplace_back(
        component.node, fmt::format("{} ({}): a network of its own, whose energies are left out",
                                    component.name, component.klass));
  }

  // The first of these attributes that has a value.
  static const Node* first_of(const TimeloopComponent& component,
                              std::initializer_list<const char*> names) {
    for (const char* name : names) {
      for (const Entry* entry : component.attributes) {
        if (entry->key.text == name && entry->value.kind == Node::Kind::kScalar) {
          return &entry->value;
        }
      }
    }
    return nullptr;
  }

  // 0: not given, or none that is of use.
  std::int64_t whole_of(const Node* node, std::int64_t most) {
    const double value = reader_.number(node, 0).value_or(0);
    return value >= 1 && value <= static_cast<double>(most) ? static_cast<std::int64_t>(value) : 0;
  }

  // Where formats of sparse tensors are stored; dense designs have no use for it.
  void read_metadata(const TimeloopComponent& component, TimeloopStorage& storage) {
    storage.metadata_word_bits =
        whole_of(first_of(component, {"metadata_datawidth", "metadata_word_bits"}), 64);
    storage.metadata_width =
        whole_of(first_of(component, {"metadata_storage_width", "metadata_width"}), kMaxBlock);
    const std::int64_t depth =
        whole_of(first_of(component, {"metadata_storage_depth", "metadata_depth"}), kMaxBlock);
    storage.metadata_bits = storage.metadata_width * depth;
  }

  // What only tables of energies ask of a component; nothing here is an error.
  void read_material(const TimeloopComponent& component) {
    TimeloopMaterial& material = out_.materials[component.name];
    material.klass = component.klass + " " + component.subclass;
    const auto first = [&](std::initializer_list<const char*> names) {
      return first_of(component, names);
    };
    constexpr std::int64_t kMaxBits = 1024;
    const auto bits = [&](std::initializer_list<const char*> names) {
      return whole_of(first(names), kMaxBits);
    };
    const Node* technology = first({"technology"});
    material.technology = technology == nullptr ? "" : technology->text;
    const Node* type = first({"type"});
    material.type = type == nullptr ? "" : type->text;
    material.multiplier_at =
        first({"multiplier_width", "width", "n_bits", "datawidth", "word_bits", "word-bits"});
    material.multiplier_bits = whole_of(material.multiplier_at, kMaxBits);
    material.adder_bits = bits({"adder_width"});
    if (const std::int64_t mantissa = bits({"num_mantissa", "mantissa"})) {
      material.multiplier_bits = 1 + mantissa + bits({"num_exponent", "exponent"});
      material.multiplier_at = nullptr;
    }
  }

  // Instances along X and Y of the whole machine.
  std::pair<std::int64_t, std::int64_t> mesh(const TimeloopComponent& component,
                                             TimeloopAttributes& attributes) {
    const std::int64_t around = component.instances * component.mesh_x * component.mesh_y;
    const std::int64_t instances = attributes.whole({"instances"}).value_or(around);
    if (around != 1 && instances != around) {
      reader_.error(*component.node, fmt::format("{} instances of {} by its attributes, {} by its "
                                                 "place",
                                                 instances, component.name, around));
    }
    const auto given_x = attributes.whole({"meshX"});
    const auto given_y = attributes.whole({"meshY"});
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

  // A dummy_storage that has one instance for each of the storage above it is no more than a name
  // of that one's fanout: the front end writes one for every container.
  bool absorb(const TimeloopStorage& point) {
    if (machine().storages.empty() || machine().storages.back().mesh_x != point.mesh_x ||
        machine().storages.back().mesh_y != point.mesh_y) {
      return false;
    }
    TimeloopStorage& above = machine().storages.back();
    above.unit_names.insert(above.unit_names.end(), above.fanout_names.begin(),
                            above.fanout_names.end());
    above.fanout_names = {point.name};
    above.fanout_names.insert(above.fanout_names.end(), point.fanout_names.begin(),
                              point.fanout_names.end());
    out_.absorbed.insert(point.name);
    return true;
  }

  void add_storage(const TimeloopComponent& component, TimeloopAttributes& attributes) {
    TimeloopStorage storage;
    storage.name = component.name;
    storage.fanout_names = component.fanout_names;
    storage.unit_names = component.unit_names;
    if (component.of_nodes) {
      out_.of_nodes.insert(component.name);
    }
    std::tie(storage.mesh_x, storage.mesh_y) = mesh(component, attributes);
    const auto word_bits = attributes.whole({"word_bits", "word_width", "datawidth"});
    storage.word_bits = word_bits.value_or(kDefaultWordBits);
    const bool dummy = component.klass.find("dummy") != std::string::npos;
    if (dummy && absorb(storage)) {
      return;
    }
    storage.block = block_of(component, attributes, storage);
    if (storage.word_bits > kMaxElementBits.count() || storage.block > kMaxBlock) {
      reader_.error(*component.node,
                    fmt::format("{} words of {} b", storage.block, storage.word_bits));
    }
    if (dummy) {
      storage.words = 1;
      storage.holds_nothing = true;
      out_.dummies.insert(storage.name);
    }
    read_capacity(component, attributes, storage);
    read_metadata(component, storage);
    read_bandwidths(component, attributes, storage);
    storage.multiple_buffering = attributes.number({"multiple_buffering"}).value_or(1);
    if (storage.words && static_cast<double>(*storage.words) < storage.multiple_buffering) {
      reader_.error(*component.node, "no word is left of its buffers");
    }
    if (const auto energy = reader_.number(attributes.find({"vector_access_energy"}), 0)) {
      out_.access_energies[storage.name] = *energy;
    }
    storage.energy_per_hop = reader_.number(attributes.find({"energy_per_hop"}), 0);
    read_wires(component, attributes, storage);
    check_outermost(component, storage);
    machine().storages.push_back(storage);
    places_.push_back(component.node);
  }

  // The outermost storage keeps every tensor here, and is one. Timeloop's front end puts a point
  // that keeps nothing above several.
  void check_outermost(const TimeloopComponent& component, const TimeloopStorage& storage) {
    const std::int64_t instances = storage.mesh_x * storage.mesh_y;
    if (!machine().storages.empty()) {
      return;
    }
    if (storage.holds_nothing) {
      reader_.error(*component.node,
                    fmt::format("{} keeps nothing; the outermost storage keeps every tensor here",
                                component.name));
    } else if (instances > 1) {
      reader_.error(
          component.multiplied_at != nullptr ? *component.multiplied_at : *component.node,
          fmt::format(
              "{} instances of {}, the outermost storage, which is one here; leave them out "
              "(one works on its share of the layer), or put a storage of all tensors "
              "before them",
              instances, component.name));
    }
  }

  // The network of a storage has a word width of its own (src/model/network-legacy.cpp,
  // ParseSpecs).
  void read_wires(const TimeloopComponent& component, TimeloopAttributes& attributes,
                  const TimeloopStorage& storage) {
    const Node* energy = attributes.find({"wire_energy"});
    TimeloopWires& wires = out_.wires[storage.name];
    wires.at = energy != nullptr ? energy : component.node;
    wires.energy = reader_.number(energy, 0);
    if (const auto micrometres = reader_.number(attributes.find({"tile_width"}), 0)) {
      wires.hop = *micrometres / 1000;
    }
    wires.word_bits = attributes.whole({"network_word_bits"}).value_or(storage.word_bits);
  }

  // Words of one access by one instance. A width is that of all instances of a cluster, which share
  // the energy of an access (src/model/buffer.cpp: ParseSpecs, UpdateOpEnergyViaERT).
  std::int64_t block_of(const TimeloopComponent& component, TimeloopAttributes& attributes,
                        TimeloopStorage& storage) {
    const std::int64_t word_bits = storage.word_bits;
    const auto width = attributes.whole({"width", "memory_width", "data_storage_width"});
    const auto block = attributes.whole({"block_size", "n_words"});
    std::optional<std::int64_t> cluster = attributes.whole({"cluster_size"});
    if (!cluster && component.of_nodes) {
      cluster = 1;  // as the front end of version 0.4 writes it out
    }
    const std::int64_t one = word_bits * block.value_or(1) * cluster.value_or(1);
    if (width && (*width % one != 0 || (block && cluster && *width != one))) {
      reader_.error(*component.node,
                    fmt::format("a width of {} b is not {} of {} b", *width,
                                block && cluster ? "a cluster" : "a whole number of blocks", one));
      return 1;
    }
    const std::int64_t blocks = cluster.value_or(width && block ? *width / one : 1);
    if (blocks != 1) {
      storage.cluster = blocks;
    }
    return block.value_or(width ? *width / one : 1);
  }

  // Timeloop asserts that it has one size in kilobytes or one in words (src/model/buffer.cpp).
  void check_sizes(const TimeloopComponent& component, TimeloopAttributes& attributes) {
    const Node* kilobytes = attributes.find({"sizeKB"});
    const Node* words = attributes.find({"entries"});
    words =
        words != nullptr ? words : attributes.find({"depth", "memory_depth", "data_storage_depth"});
    if (kilobytes != nullptr && words != nullptr) {
      reader_.error(*kilobytes,
                    fmt::format("sizeKB beside a number of entries ({}, line {}) of {}: leave one "
                                "of them out",
                                words->text, words->line, component.name));
    }
  }

  void read_capacity(const TimeloopComponent& component, TimeloopAttributes& attributes,
                     TimeloopStorage& storage) {
    check_sizes(component, attributes);
    storage.off_chip = component.klass.find("DRAM") != std::string::npos;
    // The largest number that Timeloop reads stands for a storage without an end.
    const auto has_no_end = [](const Node* size) {
      return size != nullptr && size->text == "4294967295";
    };
    if (has_no_end(attributes.find({"entries"})) ||
        has_no_end(attributes.find({"depth", "memory_depth", "data_storage_depth"}))) {
      return;
    }
    const auto entries = attributes.whole({"entries"}, 0);
    const auto depth = attributes.whole({"depth", "memory_depth", "data_storage_depth"}, 0);
    const auto kilobytes = attributes.number({"sizeKB"});
    if (entries && depth && *entries != *depth * storage.block) {
      out_.notes.lines.push_back(
          fmt::format("'depth' ({}) beside 'entries' ({}) of {}: the latter counts", *depth,
                      *entries, component.name));
    }
    // Timeloop holds a DRAM to its size, too, if it is given one (src/model/buffer.cpp: ParseSpecs,
    // PreEvaluationCheck).
    if (entries) {
      storage.words = *entries;
    } else if (depth) {
      storage.words = *depth * storage.block;
    } else if (kilobytes && *kilobytes <= kMaxKilobytes) {
      storage.words = static_cast<std::int64_t>(*kilobytes * 1024 * 8) / storage.word_bits;
    } else if (kilobytes) {
      reader_.error(*component.node, fmt::format("sizeKB is at most {:.0f}", kMaxKilobytes));
    } else if (!storage.off_chip && !storage.words) {
      out_.notes.lines.push_back(fmt::format("{}: no size given: unlimited", component.name));
    }
    if (storage.words == 0) {
      storage.words = 1;
      storage.holds_nothing = true;
      out_.empty.insert(component.name);
      out_.notes.lines.push_back(fmt::format(
          "{}: no entries, so that it keeps nothing; written as one word", component.name));
    }
  }

  void read_bandwidths(const TimeloopComponent& component, TimeloopAttributes& attributes,
                       TimeloopStorage& storage) {
    const auto both = attributes.number({"bandwidth"});
    const auto half = both ? std::optional{*both / 2} : std::nullopt;
    const auto read = attributes.number({"read_bandwidth"});
    const auto write = attributes.number({"write_bandwidth"});
    storage.read_bandwidth = read ? read : half;
    storage.write_bandwidth = write ? write : half;
    storage.shared_bandwidth = attributes.number({"shared_bandwidth"});
    if (storage.shared_bandwidth && (storage.read_bandwidth || storage.write_bandwidth)) {
      reader_.error(*component.node, "a shared bandwidth beside one of reads or writes");
    }
  }

  void add_compute(const TimeloopComponent& component, TimeloopAttributes& attributes) {
    if (!machine().compute_name.empty()) {
      reader_.error(*component.node,
                    fmt::format("a second compute unit after {}", machine().compute_name));
      return;
    }
    machine().compute_name = component.name;
    std::tie(machine().mesh_x, machine().mesh_y) = mesh(component, attributes);
    machine().compute_bits =
        attributes.whole({"word_bits", "word_width", "datawidth"}).value_or(kDefaultWordBits);
    // src/model/arithmetic.cpp, ParseSpecs
    if (const auto energy = reader_.number(attributes.find({"energy"}), 0)) {
      out_.access_energies[component.name] = *energy;
    }
    if (const auto area = reader_.number(attributes.find({"area"}), 0)) {
      machine().compute_area = *area / kSquareMicrometres;
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
    check_limits();
  }

  // A machine of ours has a limited number of storages and fanouts (core/index.hpp).
  void check_limits() {
    std::size_t fanouts = 0;
    for (std::size_t l = 0; l < machine().storages.size(); ++l) {
      if (l == kMaxLevels) {
        reader_.error(*places_[l], fmt::format("{} is storage {} of {}; a machine has at most {} "
                                               "here, so leave out one that changes nothing, or "
                                               "put two into one",
                                               machine().storages[l].name, l + 1,
                                               machine().storages.size(), kMaxLevels));
        return;
      }
      fanouts += machine().has_fanout(l) ? 1 : 0;
      if (fanouts > kMaxFanouts) {
        reader_.error(
            *places_[l],
            fmt::format("instances multiply below {}, for the {}th time; a machine has at "
                        "most {} fanouts here",
                        machine().storages[l].name, fanouts, kMaxFanouts));
        return;
      }
    }
  }

  Reader& reader_;
  TimeloopArchSection& out_;
  std::vector<const Node*> places_;  // of the storages
  std::set<const Entry*> seen_;      // attributes that have been reported
};

}  // namespace

void read_timeloop_cycle(Reader& reader, const Node* node, const std::string& of,
                         TimeloopArchSection& out) {
  if (node == nullptr) {
    return;
  }
  char* end = nullptr;
  const double seconds = std::strtod(node->text.c_str(), &end);
  std::optional<double>& cycle = out.machine.cycle_seconds;
  if (node->text.empty() || *end != '\0') {
    out.notes.trifles.push_back({"without a value, global_cycle_seconds", quoted(node->text), of});
  } else if (!(seconds >= kMinCycleSeconds && seconds <= kMaxCycleSeconds)) {
    reader.error(*node, fmt::format("a cycle of {} s; from {} to {} s is known here", seconds,
                                    kMinCycleSeconds, kMaxCycleSeconds));
  } else if (cycle.value_or(seconds) != seconds) {
    reader.error(*node, fmt::format("{} s of {}, but {} s of {}: one clock is known here", seconds,
                                    of, *cycle, out.clocked_by));
  } else if (!cycle) {
    cycle = seconds;
    out.clocked_by = of;
  }
}

TimeloopArchSection read_timeloop_arch(Reader& reader, const Node& section) {
  TimeloopArchSection out;
  ArchReader{reader, out}.read(section);
  return out;
}

}  // namespace mapsim
