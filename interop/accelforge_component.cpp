// SPDX-License-Identifier: Apache-2.0
#include "interop/accelforge_component.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "core/ascii.hpp"
#include "interop/accelforge_pace.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/own_tables.hpp"

namespace mapsim {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Action {
  std::optional<double> energy;  // J, before it is scaled
  double energy_scale = 1;
  std::optional<double> rate;  // actions a second
  double bits = 1;             // of an action
};

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

class ForgeComponentReader {
 public:
  ForgeComponentReader(Reader& reader, const Node& node, const Node* attributes,
                       const ForgeNames& names, ImportNotes& notes)
      : reader_{reader}, node_{node}, attributes_{attributes}, names_{names}, notes_{notes} {}

  ForgeComponent read() {
    const bool memory = node_.tag == "!Memory";
    const bool toll = node_.tag == "!Toll";
    const Fields fields = reader_.fields(node_, component_keys());
    out_.name = reader_.name(fields.require("name")).value_or("");
    if (const Node* enabled = fields.find("enabled")) {
      out_.enabled = number(*enabled) != 0;
    }
    if (const Node* initial = fields.find("skip_initial_output_write");
        initial != nullptr && number(*initial) == 0) {
      reader_.error(*initial,
                    "sums that are fetched before the first addition have no counterpart");
    }
    if (!out_.enabled) {
      return out_;
    }
    klass_ = fields.find("component_class");
    extra_ = fields.find("extra_attributes_for_component_model");
    note_unread();
    instances_ = scale(fields, "n_parallel_instances");
    area_scale_ = scale(fields, "area_scale");
    if (memory) {
      const Node* size = fields.require("size");
      out_.size = size == nullptr ? 1 : number(*size);
      out_.kind = std::isfinite(out_.size) ? StorageKind::kSram : StorageKind::kDram;
    }
    read_actions(fields, memory ? std::vector<std::string>{"read", "write"}
                         : toll ? std::vector<std::string>{"read"}
                                : std::vector<std::string>{"compute"});
    read_physical(fields);
    take_missing(memory);
    const double energy = scale(fields, "energy_scale") * scale(fields, "actions_scale");
    const auto joules = [&](const Action& action) {
      return action.energy.value_or(0) * action.energy_scale * energy / action.bits;
    };
    out_.read_energy = joules(actions_.front());
    out_.write_energy = joules(actions_.back());
    read_rates(fields);
    return out_;
  }

 private:
  Words component_keys() const {
    const bool memory = node_.tag == "!Memory";
    const bool toll = node_.tag == "!Toll";
    Words keys{"name",
               "component_class",
               "actions",
               "enabled",
               "area",
               "area_scale",
               "leak_power",
               "leak_power_scale",
               "energy_scale",
               "actions_scale",
               "total_latency",
               "throughput_scale",
               "n_parallel_instances",
               "extra_attributes_for_component_model",
               "spatial",
               "skip_initial_output_write"};
    if (memory) {
      keys.emplace_back("size");
    }
    if (toll) {
      keys.insert(keys.end(), {"direction", "values_per_action"});
    }
    if (memory || toll) {  // has tensors
      keys.insert(keys.end(), {"tensors", "bits_per_value", "bits_per_action"});
    }
    return keys;
  }

  double number(const Node& node) { return read_forge_number(reader_, node, names_); }

  double scale(const Fields& fields, const char* key) {
    const Node* node = fields.find(key);
    return node == nullptr ? 1 : number(*node);
  }

  std::string klass() const { return klass_ == nullptr ? "" : klass_->text; }
  bool is_dummy() const { return lower_case(klass()) == "dummy"; }

  void read_actions(const Fields& fields, const std::vector<std::string>& wanted) {
    actions_.resize(wanted.size());
    const Node* bits = value_of(node_, "bits_per_action");
    const Node* values = value_of(node_, "values_per_action");
    for (Action& action : actions_) {
      action.bits = bits == nullptr ? 1 : number(*bits);
    }
    Words keys{"name",
               "energy",
               "energy_scale",
               "latency",
               "throughput",
               "throughput_scale",
               "extra_attributes_for_component_model"};
    if (node_.tag != "!Compute") {  // which moves no bits
      keys.emplace_back("bits_per_action");
    }
    if (node_.tag == "!Toll") {
      keys.emplace_back("values_per_action");
    }
    std::set<std::size_t> seen;
    for (const Node* item : read_forge_list(reader_, fields.find("actions"), "a list of actions")) {
      const Fields each = reader_.fields(*item, keys);
      const Node* name = each.require("name");
      const auto which = reader_.choice(name, wanted, "action");
      if (!which) {
        continue;
      }
      if (!seen.insert(*which).second) {
        reader_.error(*name, fmt::format("a second action {}", quoted(name->text)));
      }
      Action& action = actions_[*which];
      if (const Node* energy = each.find("energy")) {
        action.energy = number(*energy);
      }
      action.energy_scale = scale(each, "energy_scale");
      const double rate_scale = scale(each, "throughput_scale");
      if (const Node* rate = each.find("throughput")) {
        action.rate = number(*rate) * rate_scale;
      } else if (const Node* latency = each.find("latency")) {
        const double seconds = number(*latency);
        action.rate = seconds > 0 ? rate_scale / seconds : kNoLimit;
      }
      if (const Node* own = each.find("bits_per_action")) {
        action.bits = number(*own);
      }
      const Node* own = each.find("values_per_action");
      if (const Node* first = own != nullptr ? own : values) {
        action.bits = bits_of_values(*first);
        out_.counts_values = true;
      }
      if (!(action.bits > 0) || (action.rate && !(*action.rate > 0))) {
        reader_.error(*item, "bits_per_action and throughput are above 0");
        action = {};
      }
    }
  }

  // The bits of as many values as an action has; of all tensors the same.
  double bits_of_values(const Node& values) {
    std::vector<double> bits(names_.bits_of.size(), 0);
    for (const Entry* entry : reader_.entries(values, "a map of sets of tensors")) {
      const ForgeSet set = read_known_forge_set(reader_, entry->key, names_);
      for (std::size_t t = 0; t < bits.size(); ++t) {
        bits[t] =
            ((set.surely >> t) & 1U) != 0 ? number(entry->value) * names_.bits_of[t] : bits[t];
      }
    }
    if (std::any_of(bits.begin(), bits.end(), [&](double each) { return each != bits.front(); })) {
      reader_.error(values, "values_per_action of other bits for some tensors has no counterpart");
      return 1;
    }
    if (!(bits.front() > 0)) {
      reader_.error(
          values, "values_per_action is above 0 for every tensor; a workload says which there are");
      return 1;
    }
    return bits.front();
  }

  void read_physical(const Fields& fields) {
    if (const Node* area = fields.find("area")) {
      out_.physical.area = SquareMillimetres{number(*area) * 1e6 * area_scale_ * instances_};
    }
    if (const Node* leak = fields.find("leak_power")) {
      out_.physical.leakage =
          Milliwatts{number(*leak) * 1e3 * scale(fields, "leak_power_scale") * instances_};
    }
  }

  // The models of AccelForge read more than our tables do.
  void note_unread() {
    for (const Node* attributes : {attributes_, extra_}) {
      for (std::size_t i = 0; attributes != nullptr && i < attributes->entries.size(); ++i) {
        const Node& at = attributes->entries[i].key;
        const std::string& key = at.text;
        if (key != "tech_node" && key != "multiplier_width" && key != "adder_width") {
          notes_.add(
              at, {"attributes that the energy, area and throughput of a class's model alone may "
                   "depend on, "
                   "not counts",
                   key, out_.name});
        }
      }
    }
  }

  // What the file leaves to the model of its class, where it gives the energies itself.
  void note_model() {
    const char* const kind = "what a class's model alone knows, and no figure has";
    if (klass_ != nullptr && !out_.physical.area) {
      notes_.add(*klass_, {kind, "area", out_.name});
    }
    if (klass_ != nullptr && !out_.physical.leakage) {
      notes_.add(*klass_, {kind, "leak_power", out_.name});
    }
  }

  // Of all components, or of this one: 65e-9 -> 65.
  double attribute(const char* key) {
    const Node* own = extra_ == nullptr ? nullptr : value_of(*extra_, key);
    const Node* usual = attributes_ == nullptr ? nullptr : value_of(*attributes_, key);
    const Node* found = own != nullptr ? own : usual;
    return found == nullptr ? 0 : number(*found);
  }

  // What the file leaves to the model of its class. `Dummy` costs nothing.
  void take_missing(bool memory) {
    const bool energies = std::all_of(actions_.begin(), actions_.end(),
                                      [](const Action& action) { return action.energy; });
    if (is_dummy()) {
      return;
    }
    if (energies) {
      note_model();
      return;
    }
    const Technology technology = nearest_technology(attribute("tech_node") * 1e9);
    const std::string word = lower_case(klass());
    const bool off_chip = has(word, "dram") || has(word, "ddr") || has(word, "hbm");
    std::string source;
    if (memory && (off_chip || has(word, "sram") || has(word, "buffer") || has(word, "reg"))) {
      out_.kind = own_storage_kind(klass(), off_chip, klass());
      if (!off_chip && !std::isfinite(out_.size)) {
        reader_.error(
            node_, fmt::format("{} has no size, so that no table has an energy for it", out_.name));
        return;
      }
      const Bits capacity{std::isfinite(out_.size) ? forge_count(out_.size) : std::int64_t{0}};
      const Figure energy = storage_energy(technology, out_.kind, capacity);
      for (Action& action : actions_) {
        action.energy = action.energy.value_or(energy.value * 1e-12 * action.bits);
      }
      if (!off_chip && !out_.physical.area) {
        out_.physical.area = SquareMillimetres{storage_area(technology, out_.kind, capacity).value *
                                               area_scale_ * instances_};
      }
      source = energy.source;
    } else if (!memory && has(word, "mac")) {
      const auto width = [this](const char* key, std::int64_t otherwise) {
        const double bits = attribute(key);
        return Bits{bits >= 1 ? forge_count(bits) : otherwise};
      };
      const Bits operand = width("multiplier_width", 8);
      const OwnMac mac = own_mac(technology, klass(), operand, width("adder_width", 16));
      actions_.front().energy = mac.energy * 1e-12;
      if (!out_.physical.area) {
        out_.physical.area = SquareMillimetres{mac.area * area_scale_ * instances_};
      }
      source = mac.source;
    } else {
      reader_.error(klass_ == nullptr ? node_ : *klass_,
                    klass_ == nullptr
                        ? fmt::format("{} needs energies of its actions", out_.name)
                        : fmt::format("no energies are known of the class {}; give its actions "
                                      "energies",
                                      quoted(klass())));
      return;
    }
    notes_.add(node_, fmt::format("{}: energies by our own tables (docs/energy.md){}, not by the "
                                  "model of the class {}: {}",
                                  out_.name, out_.physical.leakage ? "" : ", and no leakage",
                                  klass(), source));
  }

  void read_rates(const Fields& fields) {
    const Node* latency = fields.find("total_latency");
    const ForgePace pace =
        latency == nullptr ? ForgePace{} : read_forge_pace(reader_, *latency, node_, names_);
    out_.shares_port = pace.sums;
    bool unknown = false;
    const double slower = pace.factor * scale(fields, "actions_scale");
    const double faster = scale(fields, "throughput_scale") * instances_;  // of a throughput
    const auto rate = [&](const Action& action) {
      unknown = unknown || (pace.by_throughput && !action.rate && !is_dummy());
      const double actions = pace.by_throughput ? action.rate.value_or(kNoLimit) * faster : 1;
      return actions * action.bits / slower;
    };
    out_.read_rate = rate(actions_.front());
    out_.write_rate = rate(actions_.back());
    if (unknown) {
      notes_.add(node_, fmt::format("{}: its throughput comes from a model of its class, which "
                                    "mapsim does not have; here it does not limit the speed",
                                    out_.name));
    }
  }

  Reader& reader_;
  const Node& node_;
  const Node* attributes_;
  const ForgeNames& names_;
  ImportNotes& notes_;
  const Node* klass_ = nullptr;
  const Node* extra_ = nullptr;
  double instances_ = 1;
  double area_scale_ = 1;
  std::vector<Action> actions_;
  ForgeComponent out_;
};

}  // namespace

ForgeComponent read_forge_component(Reader& reader, const Node& node, const Node* attributes,
                                    const ForgeNames& names, ImportNotes& notes) {
  return ForgeComponentReader{reader, node, attributes, names, notes}.read();
}

}  // namespace mapsim
