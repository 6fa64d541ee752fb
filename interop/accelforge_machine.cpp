// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "interop/accelforge.hpp"
#include "interop/accelforge_component.hpp"
#include "interop/accelforge_rules.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

constexpr std::array kForgeRoles{Role::kInput, Role::kWeight, Role::kOutput};

class ForgeMachineReader {
 public:
  ForgeMachineReader(Reader& reader, const ForgeEinsum& einsum, ImportNotes& notes)
      : reader_{reader}, einsum_{einsum}, notes_{notes}, names_{einsum.names} {}

  ForgeMachine read(const Node& arch) {
    const Fields fields =
        reader_.fields(arch, {"nodes", "version", "extra_attributes_for_all_component_models"});
    attributes_ = fields.find("extra_attributes_for_all_component_models");
    names_.sets["Above"] = {0, 0, false};
    if (const Node* nodes = fields.require("nodes")) {
      read_nodes(*nodes);
    }
    check(arch);
    machine_.constraints = constraints_text();
    return std::move(machine_);
  }

 private:
  void read_nodes(const Node& nodes) {
    for (const Node* node : reader_.items(nodes, "a list of nodes")) {
      if (const Node* name = value_of(*node, "name");
          name != nullptr && !names_of_nodes_.insert(name->text).second) {
        reader_.error(*name, fmt::format("a second node called {}", quoted(name->text)));
      }
      if (node->tag == "!Hierarchical") {
        const Fields fields = reader_.fields(*node, {"nodes", "name"});
        if (const Node* inside = fields.require("nodes")) {
          read_nodes(*inside);
        }
      } else if (node->tag == "!Container") {
        const Fields fields = reader_.fields(*node, {"name", "spatial", "enabled"});
        read_spatial(fields, reader_.name(fields.require("name")).value_or(""));
      } else if (node->tag == "!Memory") {
        read_memory(*node);
      } else if (node->tag == "!Toll") {
        read_toll(*node);
      } else if (node->tag == "!Compute") {
        read_compute(*node);
      } else if (node->tag == "!Network") {
        leave_out_network(*node);
      } else {
        reader_.error(*node, fmt::format("{} has no counterpart{}; !Memory, !Container, !Toll, "
                                         "!Compute and !Hierarchical have",
                                         node->tag.empty() ? "a node without a tag" : node->tag,
                                         why_not(node->tag)));
      }
    }
  }

  static std::string why_not(const std::string& tag) {
    return tag == "!Array" ? ": its memories stand side by side, and here every level is inside "
                             "of the one before"
                           : "";
  }

  // Its hops take time, and start in a corner of the mesh or at a switch (_network.py); here hops
  // take energy alone, and start in the middle of the rows. What is missing of the totals comes
  // first.
  void leave_out_network(const Node& node) {
    if (const Node* spatial = value_of(node, "spatial")) {
      reader_.error(*spatial, "a fanout of a !Network has no counterpart");
    }
    notes_.add(node, fmt::format("{}: a !Network has no counterpart and is left out: energy and "
                                 "time of its hops, its area and its leakage are in no figure",
                                 node_name(node)));
    std::rotate(notes_.lines.begin(), notes_.lines.end() - 1, notes_.lines.end());
  }

  double number(const Node& node) { return read_forge_number(reader_, node, names_); }

  ForgeSet set_of(const Node* node, const ForgeSet& otherwise) {
    return node == nullptr ? otherwise : read_forge_set(reader_, *node, names_, otherwise);
  }

  // Tensors by their roles. What a part of the tensors of a role has cannot be said by roles.
  RoleSet roles_of(const Node& at, std::uint32_t tensors) {
    RoleSet roles;
    for (const Role role : kForgeRoles) {
      std::uint32_t all = 0;
      for (std::size_t t = 0; t < einsum_.tensors.size(); ++t) {
        all |= einsum_.role_of(t) == role ? std::uint32_t{1} << t : 0;
      }
      if ((all & tensors) != 0) {
        roles.insert(role);
        if ((all & tensors) != all) {
          reader_.error(at, fmt::format("{}: a part of the tensors that are {} has no counterpart",
                                        einsum_.name, to_string(role)));
        }
      }
    }
    return roles;
  }

  ForgeRules rules() { return {reader_, einsum_, names_, notes_}; }

  bool is_enabled(const Node* node) { return node == nullptr || number(*node) != 0; }

  ForgeComponent component(const Node& node) {
    return read_forge_component(reader_, node, attributes_, names_, notes_);
  }

  void read_memory(const Node& node) {
    const ForgeComponent memory = component(node);
    read_spatial_of(node, memory.name);  // which stays where the memory is not enabled
    if (!memory.enabled) {
      note_disabled(node, memory.name);
      return;
    }
    if (levels_.size() == kMaxLevels) {
      reader_.error(node,
                    fmt::format("{} is memory {}; a machine has at most {} here, so leave out "
                                "one that changes nothing, or put two into one",
                                memory.name, kMaxLevels + 1, kMaxLevels));
    }
    Storage storage;
    storage.name = memory.name;
    if (std::isfinite(memory.size)) {
      storage.capacity.shared = Bits{forge_count(memory.size)};
    }
    storage.streamed = true;  // the time of an einsum is that of its busiest component
    storage.kind = memory.kind;
    const Held held = read_held(node);
    const double scale = scale_of(node, memory, held.maybe);
    if (storage.capacity.shared) {
      storage.capacity.shared = Bits{forge_count(memory.size / scale)};
    }
    const auto per_bit = [scale](double joules) { return PicojoulesPerBit{joules * 1e12 * scale}; };
    storage.energy = {per_bit(memory.read_energy), per_bit(memory.write_energy),
                      per_bit(memory.write_energy)};
    rates_.push_back(
        {memory.read_rate / scale, memory.write_rate / scale, memory.shares_port, &node});
    storage.physical = memory.physical;
    storage.keep = held.keep;
    for (const Role role : kForgeRoles) {
      if (!held.free.contains(role) && !held.keep.contains(role)) {
        storage.bypass.insert(role);
      }
    }
    extents_ += rules().extents(node, storage.name);
    levels_.push_back(std::move(storage));
  }

  void note_disabled(const Node& node, const std::string& name) {
    notes_.add(node, {"memories and tolls that are not enabled", name, "for " + einsum_.name});
  }

  // What passes a toll right below the outermost memory is what that memory reads and takes, so its
  // energies are added to those of the memory. Further in, what passes depends on the mapping.
  void read_toll(const Node& node) {
    const ForgeComponent toll = component(node);
    if (!toll.enabled) {
      note_disabled(node, toll.name);
      return;
    }
    const Node* direction = value_of(node, "direction");
    const auto refuse = [&](const std::string& why) {
      reader_.error(node, fmt::format("{}: {} has no counterpart", toll.name, why));
    };
    if (levels_.size() != 1 || !fanouts_.empty() || value_of(node, "spatial") != nullptr) {
      refuse("a toll that is not right below the outermost memory, before any fanout,");
      return;
    }
    const Node* tensors = value_of(node, "tensors");
    const Node* keep = tensors == nullptr ? nullptr : rules_of(node, *tensors).find("keep");
    if (keep == nullptr || (set_of(keep, {}).surely & names_.tensors) != names_.tensors) {
      refuse("a toll that some tensors need not pass");
      return;
    }
    if (std::isfinite(toll.read_rate)) {
      refuse("a toll that takes time");
      return;
    }
    const std::string way = direction == nullptr ? "" : direction->text;
    if (way != "up" && way != "down" && way != "up_and_down") {
      refuse("a direction other than up, down and up_and_down");
      return;
    }
    Storage& outermost = levels_.front();
    const double scale = toll.counts_values ? 1 : scale_of(node, toll, names_.tensors);
    const PicojoulesPerBit energy{toll.read_energy * 1e12 * scale};
    if (way != "up") {
      outermost.energy.read += energy;
    }
    if (way != "down") {
      outermost.energy.write += energy;
      outermost.energy.update += energy;
    }
    add(outermost.physical.area, toll.physical.area);
    add(outermost.physical.leakage, toll.physical.leakage);
    notes_.add(node, fmt::format("{}: its energy, area and leakage are added to those of {}, which "
                                 "pays for all that passes",
                                 toll.name, outermost.name));
  }

  template <class Quantity>
  static void add(std::optional<Quantity>& sum, const std::optional<Quantity>& more) {
    if (more) {
      sum = sum.value_or(Quantity{0}) + *more;
    }
  }

  // The rules of a node for its tensors; those without a counterpart have notes.
  Fields rules_of(const Node& node, const Node& tensors) {
    Words left_out{"back", "no_refetch_from_above", "no_resend_to_below", "tensor_order_options",
                   "force_memory_hierarchy_order"};
    Words keys{"keep", "may_keep"};
    (node.tag == "!Toll" ? left_out : keys).emplace_back("tile_shape");
    keys.insert(keys.end(), left_out.begin(), left_out.end());
    const Fields fields = reader_.fields(tensors, keys);
    for (const std::string& key : left_out) {
      if (fields.has(key)) {
        notes_.add(
            fields.place(key),
            fmt::format("{}: {} is left out; the space is wider without it", node_name(node), key));
      }
    }
    return fields;
  }

  struct Held {
    RoleSet keep, free;
    std::uint32_t maybe = 0;  // tensors that it may hold
  };

  Held read_held(const Node& node) {
    const Node* tensors = value_of(node, "tensors");
    const ForgeSet nothing{}, all{names_.tensors, names_.tensors, false};
    ForgeSet keep = nothing, may = all;
    if (tensors != nullptr) {
      const Fields fields = rules_of(node, *tensors);
      keep = set_of(fields.find("keep"), nothing);
      may = set_of(fields.find("may_keep"), fields.has("keep") ? nothing : all);
    }
    Held held;
    const bool outermost = levels_.empty();
    held.maybe = keep.maybe | may.maybe;
    if (outermost && held.maybe != names_.tensors) {
      reader_.error(node, fmt::format("{} is the outermost memory and must be able to hold all "
                                      "tensors",
                                      node_name(node)));
    }
    const std::uint32_t surely = outermost ? names_.tensors : keep.surely;
    if (!outermost && !keep.is_known()) {
      notes_.add(
          *tensors,
          fmt::format("{}: what it keeps depends on what a memory further out keeps; each is free "
                      "here, and the "
                      "space is wider",
                      node_name(node)));
    }
    const Node& at = tensors == nullptr ? node : *tensors;
    held.keep = roles_of(at, surely);
    held.free = roles_of(at, held.maybe & ~surely);
    const ForgeSet holds{surely, held.maybe, false};
    names_.sets[node_name(node)] = holds;
    ForgeSet& above = names_.sets["Above"];
    above = {above.surely | holds.surely, above.maybe | holds.maybe, false};
    return held;
  }

  static std::string node_name(const Node& node) {
    const Node* name = value_of(node, "name");
    return name == nullptr ? "" : name->text;
  }

  // A value that is k times as wide here as in the workload: a k-th of the values fit, and each
  // takes k times the energy.
  double scale_of(const Node& node, const ForgeComponent& memory, std::uint32_t tensors) {
    const Node* bits = value_of(node, "bits_per_value");
    if (bits == nullptr) {
      return 1;
    }
    std::vector<double> scales(einsum_.tensors.size(), 1);
    for (const Entry* entry : reader_.entries(*bits, "a map of sets of tensors")) {
      const ForgeSet set = read_known_forge_set(reader_, entry->key, names_);
      for (std::size_t t = 0; t < scales.size(); ++t) {
        if (((set.surely >> t) & 1U) != 0) {
          scales[t] = number(entry->value) / names_.bits_of[t];
        }
      }
    }
    std::optional<double> one;
    for (std::size_t t = 0; t < scales.size(); ++t) {
      if (((tensors >> t) & 1U) != 0 && one.value_or(scales[t]) != scales[t]) {
        reader_.error(*bits,
                      "tensors of one memory that are widened unequally have no counterpart");
      }
      one = ((tensors >> t) & 1U) != 0 ? scales[t] : one;
    }
    if (one.value_or(1) != 1) {
      notes_.add(
          *bits,
          fmt::format("{} holds {:g} times the bits of a value: its size and its ports are divided "
                      "by that, its "
                      "energies multiplied",
                      memory.name, *one));
    }
    return one.value_or(1);
  }

  void read_compute(const Node& node) {
    const ForgeComponent unit = component(node);
    if (!unit.enabled) {
      notes_.add(node, {"components that are not enabled for einsums of three tensors "
                        "(those of two are streams here)",
                        unit.name, ""});
      return;
    }
    if (!machine_.arch.compute.name.empty()) {
      reader_.error(node, fmt::format("{}: a second compute unit beside {} has no counterpart",
                                      unit.name, machine_.arch.compute.name));
      return;
    }
    read_spatial_of(node, unit.name);
    Compute& compute = machine_.arch.compute;
    compute.name = unit.name;
    compute.energy = Picojoules{unit.read_energy * 1e12};
    compute.physical = unit.physical;
    if (std::isfinite(unit.read_rate) && unit.read_rate > 0) {
      machine_.arch.clock = Hertz{unit.read_rate};
    } else {
      notes_.add(node, fmt::format("{} takes no time in AccelForge; here it takes a cycle of 1 ns",
                                   unit.name));
    }
  }

  void read_spatial_of(const Node& node, const std::string& name) {
    if (const Node* spatial = value_of(node, "spatial")) {
      read_fanouts(*spatial, name);
    }
  }
  void read_spatial(const Fields& fields, const std::string& name) {
    if (const Node* spatial = fields.find("spatial");
        is_enabled(fields.find("enabled")) && spatial != nullptr) {
      read_fanouts(*spatial, name);
    }
  }

  void read_fanouts(const Node& list, const std::string& of) {
    for (const Node* item : read_forge_list(reader_, &list, "a list of fanouts")) {
      const Fields fields =
          reader_.fields(*item, {"name", "fanout", "may_reuse", "reuse", "loop_bounds", "min_usage",
                                 "usage_scale", "power_gateable"});
      Fanout fanout;
      fanout.name = of + "_" + reader_.name(fields.require("name")).value_or("");
      const Node* size = fields.require("fanout");
      fanout.x = size == nullptr ? 1 : forge_count(number(*size));
      if (fanout.x < 1) {
        reader_.error(*size, "a fanout has at least one instance");
        fanout.x = 1;
      }
      if (const Node* scale = fields.find("usage_scale"); scale != nullptr && number(*scale) != 1) {
        reader_.error(*scale, "a usage_scale other than 1 has no counterpart");
      }
      if (const Node* gate = fields.find("power_gateable")) {
        notes_.add(*gate,
                   {"power gating, which this model has not", "power_gateable", fanout.name});
      }
      const ForgeSet nothing{}, all{names_.tensors, names_.tensors, false};
      const ForgeSet reuse = set_of(fields.find("reuse"), nothing);
      const ForgeSet may = set_of(fields.find("may_reuse"), fields.has("reuse") ? reuse : all);
      if (!reuse.is_known() || !may.is_known()) {
        reader_.error(*item, "what is reused along a fanout must not depend on what memories keep");
      }
      const RoleSet reused = roles_of(*item, reuse.surely);
      const RoleSet shared = roles_of(*item, may.surely);
      for (const Role role : {Role::kInput, Role::kWeight}) {
        if (shared.contains(role)) {
          fanout.multicast.insert(role);
        }
      }
      fanout.spatial_reduction = shared.contains(Role::kOutput);
      restrict_forge_fanout(fanout, reused);
      unroll_ += rules().unrolling(fields, fanout, reuse.surely);
      fanouts_.push_back(std::move(fanout));
      above_.push_back(levels_.size());
    }
  }

  void check(const Node& arch) {
    if (levels_.empty()) {
      reader_.error(arch, "no memory");
    }
    if (levels_.empty() || levels_.size() > kMaxLevels) {
      return;
    }
    if (fanouts_.size() > kMaxFanouts) {
      reader_.error(arch, fmt::format("more than {} fanouts", kMaxFanouts));
      return;
    }
    if (std::count(above_.begin(), above_.end(), std::size_t{0}) > 0) {
      reader_.error(arch, "the outermost memory must be outside of every fanout");
    }
    if (machine_.arch.compute.name.empty()) {
      reader_.error(arch, "no compute unit");
    }
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      levels_[l].bandwidth = bandwidth_of(levels_[l].name, rates_[l]);
      machine_.arch.levels.push_back(levels_[l]);
    }
    for (std::size_t f = 0; f < fanouts_.size(); ++f) {
      machine_.arch.fanouts.push_back(fanouts_[f]);
      machine_.arch.levels_above.push_back(above_[f]);
    }
    machine_.arch.name = "accelforge";
  }

  struct Rates {
    double read = 0, write = 0;  // b/s
    bool shared = false;
    const Node* at = nullptr;
  };

  Bandwidth bandwidth_of(const std::string& name, const Rates& rates) {
    const double clock = machine_.arch.clock.count();
    const auto per_cycle = [clock](double rate) {
      return std::isfinite(rate) ? std::optional{BitsPerCycle{rate / clock}} : std::nullopt;
    };
    Bandwidth bandwidth;
    if (rates.shared && std::isfinite(rates.read) && std::isfinite(rates.write)) {
      bandwidth.shared = per_cycle(std::min(rates.read, rates.write));
      if (rates.read != rates.write) {
        notes_.add(*rates.at, fmt::format("{}: reads and writes share a port at rates that differ; "
                                          "here both go at the lower one",
                                          name));
      }
    } else {
      bandwidth.read = per_cycle(rates.read);
      bandwidth.write = per_cycle(rates.write);
    }
    return bandwidth;
  }

  std::string constraints_text() const {
    const std::string unroll = unroll_.empty() ? "" : "  unroll:\n" + unroll_;
    const std::string extents = extents_.empty() ? "" : "  extents:\n" + extents_;
    return unroll.empty() && extents.empty() ? "" : "mapspace:\n" + unroll + extents;
  }

  Reader& reader_;
  const ForgeEinsum& einsum_;
  ImportNotes& notes_;
  ForgeNames names_;
  const Node* attributes_ = nullptr;
  ForgeMachine machine_;
  std::vector<Storage> levels_;
  std::vector<Rates> rates_;
  std::vector<Fanout> fanouts_;
  std::vector<std::size_t> above_;  // levels above each fanout
  std::set<std::string> names_of_nodes_;
  std::string unroll_, extents_;  // rules
};

}  // namespace

ForgeMachine forge_machine(Reader& reader, const Node& arch, const ForgeEinsum& einsum,
                           ImportNotes& notes) {
  return ForgeMachineReader{reader, einsum, notes}.read(arch);
}

}  // namespace mapsim
