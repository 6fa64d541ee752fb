// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "interop/foreign_yaml.hpp"
#include "interop/zigzag.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostUnits = std::int64_t{1} << 20;  // along one dim of the array
const Words kOperands{"I1", "I2", "O"};
const Words kAllocations{"I1, fh", "I1, tl", "I1, fl", "I1, th", "I2, fh", "I2, tl",
                         "I2, fl", "I2, th", "O, fh",  "O, tl",  "O, fl",  "O, th"};
const Words kCores{"compute",       "zigzag.compute", "memory",
                   "zigzag.memory", "offchip",        "zigzag.offchip"};
constexpr std::array kRoles{Role::kInput, Role::kWeight, Role::kOutput};

class MachineReader {
 public:
  MachineReader(Reader& reader, std::vector<std::string>& notes) : reader_{reader}, notes_{notes} {}

  ZigzagMachine read(bool core) {
    const Fields fields =
        reader_.fields(reader_.root(), {"name", "memories", "operational_array", "dataflows",
                                        "type", "operator_types", "operand_precision"});
    machine_.name = reader_.name(fields.require("name")).value_or("");
    machine_.on_chip = core;
    if (const Node* type = fields.find("type")) {
      const auto kind = reader_.choice(type, kCores, "type of core");
      machine_.computes = kind.value_or(0) < 2;
      machine_.on_chip = machine_.computes;
    }
    for (const char* key : {"operator_types", "operand_precision"}) {
      if (const Node* node = fields.find(key)) {
        note(*node, fmt::format("{}: {} is left out", machine_.name, key));
        if (key == std::string_view{"operator_types"} && node->kind != Node::Kind::kSequence) {
          reader_.error(*node,
                        fmt::format("expected a list of operators, not {}", describe(*node)));
        }
      }
    }
    if (const Node* array = fields.require("operational_array")) {
      read_array(*array);
    }
    if (const Node* dataflows = fields.find("dataflows")) {
      note(*dataflows,
           "dataflows of the accelerator are left out; the mapping says what is unrolled");
    }
    if (const Node* memories = fields.require("memories"); memories != nullptr && !in_memory_) {
      for (const Entry* entry : reader_.entries(*memories, "a map of memories")) {
        read_memory(entry->key.text, entry->value);
      }
      check_memories(*memories);
    }
    note_unused();
    if (!added_up_.empty()) {
      notes_.push_back(
          fmt::format("{}: ports of one direction add up, where in ZigZag each serves its own "
                      "operands: {}",
                      machine_.name, joined(added_up_, ", ")));
    }
    return std::move(machine_);
  }

 private:
  void read_array(const Node& node) {
    const Node* imc = value_of(node, "is_imc");
    if (imc != nullptr && read_foreign_boolean(reader_, imc).value_or(false)) {
      reader_.error(*imc, "arrays that compute in memory are not imported");
      in_memory_ = true;
      return;
    }
    const Fields fields = reader_.fields(
        node, {"is_imc", "input_precision", "unit_energy", "unit_area", "dimensions", "sizes"});
    machine_.mac_energy = reader_.number(fields.require("unit_energy"), 0).value_or(0);
    note_area(fields.find("unit_area"));
    if (const Node* precision = fields.find("input_precision")) {
      note(*precision,
           fmt::format("{}: input_precision is left out: layers have widths", machine_.name));
    }
    const Node* dims = fields.require("dimensions");
    const Node* sizes = fields.require("sizes");
    if (dims == nullptr || sizes == nullptr) {
      return;
    }
    for (const Node* dim : reader_.items(*dims, "a list of dims")) {
      machine_.dims.push_back(reader_.name(dim).value_or(""));
    }
    for (const Node* size : reader_.items(*sizes, "a list of sizes")) {
      machine_.sizes.push_back(
          reader_.integer(size, machine_.computes ? 1 : 0, kMostUnits).value_or(1));
    }
    if (machine_.dims.size() != machine_.sizes.size()) {
      reader_.error(*sizes, "as many sizes as dimensions are needed");
    } else if (machine_.dims.size() > kMaxFanouts) {
      reader_.error(*dims, fmt::format("more than {} dims of an array", kMaxFanouts));
    }
  }

  // ZigZag's costs have no latency of a memory either (cost_model.py, calc_memory_word_access and
  // calc_overall_latency).
  void note_unused() {
    std::vector<std::string> unused;
    if (has_latency_) {
      unused.emplace_back("latency of memories, as in ZigZag's costs");
    }
    if (has_least_) {
      unused.emplace_back(
          "bandwidth_min: what moves is charged by the bit, in ZigZag by pieces of bandwidth_min");
    }
    if (!machine_.on_chip && !machine_.memories.empty()) {
      unused.push_back(fmt::format("size of {}, the outermost memory: it holds every tensor",
                                   machine_.memories.back().name));
    }
    if (has_type_) {
      unused.emplace_back("mem_type, which ZigZag gives to CACTI alone");
    }
    if (has_area_) {
      unused.emplace_back("areas, which have no unit");
    }
    if (!unused.empty()) {
      notes_.push_back(fmt::format("{}: ignored: {}", machine_.name, joined(unused, "; ")));
    }
  }

  void note(const Node& at, const std::string& text) {
    notes_.push_back(fmt::format("{}:{}: {}", reader_.file(), at.line, text));
  }

  void note_area(const Node* area) {
    has_area_ = has_area_ || reader_.number(area, 0).value_or(0) > 0;
  }

  void check_memories(const Node& node) {
    const std::size_t count = machine_.memories.size();
    if (count == 0 || count > kMaxLevels) {
      reader_.error(node, fmt::format("{} memories; from 1 to {} are needed", count, kMaxLevels));
    } else if (!machine_.on_chip && machine_.memories.back().roles != kAllRoles) {
      reader_.error(node, fmt::format("{} is the outermost memory and must hold I1, I2 and O",
                                      machine_.memories.back().name));
    }
    const bool readable = reader_.errors() == 0;
    for (std::size_t m = 0; m < count && readable; ++m) {
      check_allocations(m);
      check_order(m);
    }
  }

  void read_memory(const std::string& name, const Node& node) {
    const Fields fields = reader_.fields(
        node, {"size", "r_cost", "w_cost", "area", "latency", "operands", "ports",
               "served_dimensions", "auto_cost_extraction", "mem_type", "force_double_buffering"});
    ZigzagMemory memory;
    memory.name = name;
    has_latency_ = has_latency_ || fields.has("latency");
    has_type_ = has_type_ || fields.has("mem_type");
    note_area(fields.find("area"));
    const std::int64_t size =
        reader_.integer(fields.require("size"), 1, std::numeric_limits<std::int64_t>::max())
            .value_or(1);
    memory.size = Bits{std::min<std::int64_t>(size, kMaxInteger)};
    if (size > kMaxInteger) {
      note(node, fmt::format("{}: {} b are more than anything fills; written as {} b", memory.name,
                             size, memory.size.count()));
    }
    const Node* extracted = fields.find("auto_cost_extraction");
    if (read_foreign_boolean(reader_, extracted).value_or(false)) {
      reader_.error(*extracted,
                    "energies that ZigZag takes from CACTI are not known here; give "
                    "r_cost and w_cost");
    }
    memory.read_energy = reader_.number(fields.require("r_cost"), 0).value_or(0);
    memory.write_energy = reader_.number(fields.require("w_cost"), 0).value_or(0);
    memory.double_buffered =
        read_foreign_boolean(reader_, fields.find("force_double_buffering")).value_or(false);
    for (const std::size_t operand :
         reader_.choice_list(fields.require("operands"), kOperands, "operand")) {
      memory.roles.insert(kRoles[operand]);
    }
    MemoryPlace place{fields.find("ports"), fields.require("served_dimensions"), {}};
    const Node* served = place.served;
    if (served != nullptr && !(served->kind == Node::Kind::kSequence && served->items.empty())) {
      for (const std::size_t dim : reader_.choice_list(served, machine_.dims, "dim of the array")) {
        memory.shared.insert(dim);
      }
    }
    if (const Node* ports = fields.require("ports")) {
      read_ports(*ports, memory, place.allocated);
    }
    machine_.memories.push_back(std::move(memory));
    places_.push_back(std::move(place));
  }

  // By operand and direction, as ports name them: "I1, tl". Directions are to and from the memories
  // further in (tl, fl) and further out (th, fh).
  using PortWidths = std::map<std::string, Bits>;

  // Where a memory says what it serves.
  struct MemoryPlace {
    const Node* ports = nullptr;
    const Node* served = nullptr;
    PortWidths allocated;
  };
  struct Port {
    std::size_t type = kReadWrite;
    std::int64_t bits = 1;
    bool serves = false;  // it has an allocation
  };
  static bool has_allocation(const Node& port) {
    const Node* list = value_of(port, "allocation");
    return list != nullptr && !list->items.empty();
  }
  static constexpr std::size_t kWrite = 1;
  static constexpr std::size_t kReadWrite = 2;

  // Ports of one direction add up. In ZigZag an access is as wide as the port that its operand has
  // for its direction (cost_model.py, calc_memory_word_access).
  void read_ports(const Node& list, ZigzagMemory& memory, PortWidths& widths) {
    double rates[2] = {0, 0};
    int counts[2] = {0, 0};
    Bits narrowest{kMaxInteger};
    bool is_shared = false;
    const bool some_allocated = std::any_of(list.items.begin(), list.items.end(), has_allocation);
    for (const Node* item : reader_.items(list, "a list of ports")) {
      const Port port = read_port(*item, memory, widths);
      if (!port.serves && some_allocated) {
        note(*item, fmt::format("{}: a port without an allocation serves nothing, as in ZigZag",
                                memory.name));
        continue;
      }
      memory.width = std::max(memory.width, Bits{port.bits});
      narrowest = std::min(narrowest, Bits{port.bits});
      is_shared = is_shared || port.type == kReadWrite;
      const std::size_t direction = port.type == kWrite ? 1 : 0;
      rates[direction] += static_cast<double>(port.bits);
      ++counts[direction];
    }
    choose_widths(widths, memory);
    if (narrowest < memory.width && !list.items.empty()) {
      note_widths(widths, narrowest, memory);
    } else if (std::max(counts[0], counts[1]) > 1) {
      added_up_.push_back(memory.name);
    }
    if (is_shared) {
      memory.bandwidth.shared = BitsPerCycle{rates[0] + rates[1]};
      return;
    }
    for (const std::size_t direction : {0U, 1U}) {
      if (counts[direction] == 0 && !some_allocated) {
        reader_.error(list, fmt::format("no port of {} {}", memory.name,
                                        direction == kWrite ? "writes" : "reads"));
      }
    }
    memory.bandwidth.read = BitsPerCycle{rates[0]};
    memory.bandwidth.write = BitsPerCycle{rates[1]};
  }

  Port read_port(const Node& item, const ZigzagMemory& memory, PortWidths& widths) {
    const Fields fields =
        reader_.fields(item, {"name", "type", "bandwidth_min", "bandwidth_max", "allocation"});
    const auto type =
        reader_.choice(fields.require("type"), {"read", "write", "read_write"}, "type of port");
    const auto bits = reader_.integer(fields.require("bandwidth_max"), 1, kMaxInteger);
    if (const Node* node = fields.find("bandwidth_min")) {
      has_least_ = true;
      const auto least = reader_.integer(node, 0, kMaxInteger);
      if (least && bits && *least > *bits) {
        reader_.error(*node, fmt::format("more than bandwidth_max, {}", *bits));
      }
    }
    const Node* served = fields.find("allocation");
    if (served != nullptr && served->kind != Node::Kind::kSequence) {
      reader_.error(*served, fmt::format("expected a list, not {}", describe(*served)));
    }
    for (std::size_t i = 0; served != nullptr && i < served->items.size(); ++i) {
      const Node& each = served->items[i];
      if (const auto known = reader_.choice(&each, kAllocations, "allocation")) {
        check_allocation(each, type.value_or(kReadWrite), memory);
        if (!widths.insert_or_assign(kAllocations[*known], Bits{bits.value_or(1)}).second) {
          note(each, fmt::format("{}: '{}' has a port already; the last one counts, as in ZigZag",
                                 memory.name, each.text));
        }
      }
    }
    return {type.value_or(kReadWrite), bits.value_or(1), has_allocation(item)};
  }

  // "I1, tl": what is read goes to the memories further in or out, what is written comes from them.
  void check_allocation(const Node& node, std::size_t type, const ZigzagMemory& memory) {
    const std::size_t comma = node.text.find(',');
    const std::string operand = node.text.substr(0, comma);
    const auto known = std::find(kOperands.begin(), kOperands.end(), operand);
    if (!memory.roles.contains(kRoles[static_cast<std::size_t>(known - kOperands.begin())])) {
      reader_.error(node, fmt::format("{} is not among the operands of {}", operand, memory.name));
    }
    const bool writes = node.text[comma + 2] == 'f';
    if (type != kReadWrite && (type == kWrite) != writes) {
      reader_.error(
          node, fmt::format("'{}' is {}, but the port's type is {}; read_write has both", node.text,
                            writes ? "written" : "read", writes ? "read" : "write"));
    }
  }

  // The outermost memory of an operand moves nothing further out. ZigZag fails where something
  // moves without a port; sums come back of some mappings only.
  void check_allocations(std::size_t m) {
    const MemoryPlace& place = places_[m];
    const std::string& name = machine_.memories[m].name;
    std::vector<std::string> missing, of_sums;
    for (std::size_t o = 0; o < kRoles.size() && !place.allocated.empty(); ++o) {
      const auto add = [&](const char* direction, std::vector<std::string>& list) {
        const std::string wanted = kOperands[o] + ", " + direction;
        if (machine_.memories[m].roles.contains(kRoles[o]) && !place.allocated.contains(wanted)) {
          list.push_back(quoted(wanted));
        }
      };
      const bool sums = kRoles[o] == Role::kOutput;
      add(sums ? "fl" : "tl", missing);
      if (sums) {
        add("tl", of_sums);
      }
      if (has_outer(m, kRoles[o])) {
        add(sums ? "th" : "fh", missing);
        if (sums) {
          add("fh", of_sums);
        }
      }
    }
    if (!missing.empty()) {
      reader_.error(*place.ports, fmt::format("no port of {} has the allocation {}", name,
                                              joined(missing, ", ")));
    } else if (!of_sums.empty()) {
      note(*place.ports, fmt::format("{}: no port has the allocation {}: sums that come back have "
                                     "a port here, and none in ZigZag",
                                     name, joined(of_sums, ", ")));
    }
  }

  bool has_outer(std::size_t m, Role role) const {
    const auto& all = machine_.memories;
    return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(m) + 1, all.end(),
                       [role](const ZigzagMemory& outer) { return outer.roles.contains(role); });
  }

  // Memories stand from the innermost to the outermost of each operand.
  void check_order(std::size_t m) {
    const ZigzagMemory& outer = machine_.memories[m];
    for (std::size_t i = 0; i < m; ++i) {
      const ZigzagMemory& inner = machine_.memories[i];
      const bool whole = m + 1 == machine_.memories.size() && !machine_.on_chip;
      if ((inner.roles.bits() & outer.roles.bits()) != 0 &&
          inner.shared.size() > outer.shared.size() && !whole) {
        reader_.error(*places_[m].served,
                      fmt::format("a memory that is listed later is further out: {} must serve at "
                                  "least the array dims that {} serves",
                                  outer.name, inner.name));
        return;
      }
    }
  }

  // One width for all operands: the narrowest that inputs and weights have, else that of outputs.
  static void choose_widths(const PortWidths& widths, ZigzagMemory& memory) {
    const auto narrowest = [&](std::initializer_list<const char*> ports) -> std::optional<Bits> {
      std::optional<Bits> found;
      for (const char* port : ports) {
        const auto known = widths.find(port);
        if (known != widths.end()) {
          found = std::min(found.value_or(known->second), known->second);
        }
      }
      return found;
    };
    const std::optional<Bits> reads = narrowest({"I1, tl", "I2, tl"});
    memory.read_width = reads ? *reads : narrowest({"O, tl", "O, th"}).value_or(memory.width);
    const std::optional<Bits> writes = narrowest({"I1, fh", "I2, fh"});
    memory.write_width = writes ? *writes : narrowest({"O, fh"}).value_or(memory.width);
    memory.update_width = narrowest({"O, fl"}).value_or(memory.width);
  }

  void note_widths(const PortWidths& widths, Bits narrowest, const ZigzagMemory& memory) {
    std::string others;
    for (const auto& [port, bits] : widths) {
      const Bits taken = port.ends_with("fl")   ? memory.update_width
                         : port.ends_with("fh") ? memory.write_width
                                                : memory.read_width;
      others += bits == taken
                    ? ""
                    : fmt::format("; in ZigZag those of '{}' are of {} b", port, bits.count());
    }
    notes_.push_back(fmt::format(
        "{}: ports of {} to {} b: energies are of reads of {} b, writes of {} b and updates of {} "
        "b{}; ports add up, where in ZigZag each serves its own operands",
        memory.name, narrowest.count(), memory.width.count(), memory.read_width.count(),
        memory.write_width.count(), memory.update_width.count(), others));
  }

  Reader& reader_;
  std::vector<std::string>& notes_;
  ZigzagMachine machine_;
  std::vector<MemoryPlace> places_;  // of memories
  bool in_memory_ = false;
  bool has_latency_ = false;
  bool has_type_ = false;   // mem_type
  bool has_least_ = false;  // bandwidth_min
  bool has_area_ = false;
  std::vector<std::string> added_up_;  // memories with several ports of a direction
};

}  // namespace

ZigzagMachine read_zigzag_machine(Reader& reader, std::vector<std::string>& notes, bool core) {
  return MachineReader{reader, notes}.read(core);
}

}  // namespace mapsim
