// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "interop/foreign_yaml.hpp"
#include "interop/zigzag.hpp"
#include "workloads/operators.hpp"

namespace mapsim {

namespace {

// The cores of a chip that have one file.
struct Core {
  std::string file;
  std::vector<std::string> ids;
};

std::vector<Core> list_cores(Reader& reader, const Node& list) {
  std::vector<Core> cores;
  for (const Entry* entry : reader.entries(list, "a map of cores to files")) {
    const std::string file = reader.text(&entry->value, "the file of a core").value_or("");
    auto core = std::find_if(cores.begin(), cores.end(),
                             [&](const Core& each) { return each.file == file; });
    core = core == cores.end() ? cores.insert(core, Core{file, {}}) : core;
    core->ids.push_back(entry->key.text);
  }
  return cores;
}

// Where Stream looks for the file of a core: by a bare name in the folder cores/ of the chip, then
// beside it; by a path that does not begin at the chip (./), from the folder in which Stream was
// started: for stream/inputs/tpu.yaml that is the one that holds the folder stream/ in which the
// chip lies. The first that exists, or the first.
std::string core_path(const std::string& chip, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path{chip}.parent_path();
  std::vector<fs::path> places;
  if (file.find('/') == std::string::npos) {
    places = {folder / "cores" / file, folder / file};
  } else {
    places = {folder / file};
    std::error_code unreadable;
    const fs::path first = *fs::path{file}.begin();
    fs::path inside = fs::absolute(folder / ".", unreadable).lexically_normal().parent_path();
    for (; inside.has_relative_path(); inside = inside.parent_path()) {
      if (inside.filename() == first) {
        places.push_back(inside.parent_path() / file);
      }
    }
  }
  const auto found = std::find_if(places.begin(), places.end(), [](const fs::path& place) {
    std::error_code unreadable;
    return fs::is_regular_file(place, unreadable);
  });
  return (found == places.end() ? places.front() : *found).lexically_normal().string();
}

// What joins the cores, but for the way to the memory off the chip.
std::vector<std::string> keys_left_out(const Fields& fields) {
  std::vector<std::string> left_out;
  for (const char* key :
       {"core_coordinates", "core_memory_sharing", "memory_aliases", "technology_node"}) {
    if (const Node* node = fields.find(key)) {
      left_out.push_back(fmt::format("{} (line {})", key, node->line));
    }
  }
  if (const Node* node = fields.find("core_connectivity")) {
    left_out.push_back(fmt::format(
        "links between cores (line {}; here, tensors pass through the chip's memory instead)",
        node->line));
  }
  return left_out;
}

ZigzagMachine read_core(const Document& document, std::vector<std::string>& notes) {
  Reader reader{document};
  ZigzagMachine machine = read_zigzag_machine(reader, notes, true);
  reader.finish();
  std::erase_if(notes, [&](const std::string& note) {  // soc.yaml has them
    return note.ends_with(machine.name + ": operator_types is left out");
  });
  return machine;
}

// The operators of a core, by the names that ONNX and ours have in common; empty: all; nullopt:
// none that is known.
std::optional<Words> operators_of(const Document& core, std::vector<std::string>& left_out) {
  Words known;
  const Node* list = value_of(core.root, "operator_types");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const std::string& word = list->items[i].text;
    const bool multiplies = word == "Conv" || word == "Gemm" || word == "MatMul";
    if (multiplies || op_kind(word) != OpKind::kOther) {
      known.push_back(word);
    } else {
      left_out.push_back(fmt::format("operator {}", word));
    }
  }
  const bool none = known.empty() && list != nullptr && !list->items.empty();
  return none ? std::nullopt : std::optional{std::move(known)};
}

// A link between two cores, or a bus that several share.
struct Link {
  Words cores;
  double bandwidth = 0;  // bits per cycle
  bool is_bus = false;
  bool joins(const std::string& a, const std::string& b) const {
    const auto has = [this](const std::string& id) {
      return std::find(cores.begin(), cores.end(), id) != cores.end();
    };
    return has(a) && has(b);
  }
};

// The name of a core of the chip; any other is an error.
std::string core_name(Reader& reader, const Node& node, const std::vector<Core>& cores) {
  const bool known = std::any_of(cores.begin(), cores.end(), [&](const Core& core) {
    return std::find(core.ids.begin(), core.ids.end(), node.text) != core.ids.end();
  });
  if (!known) {
    reader.error(node, fmt::format("the chip has no core {}", describe(node)));
  }
  return node.text;
}

std::vector<Link> read_links(Reader& reader, const Node* list, const std::vector<Core>& cores,
                             std::vector<std::string>& notes) {
  std::vector<Link> links;
  for (const Node* item :
       list == nullptr ? std::vector<const Node*>{} : reader.items(*list, "a list of links")) {
    const Fields fields = reader.fields(*item, {"type", "cores", "bandwidth", "unit_energy_cost"});
    Link link;
    if (const Node* joined_cores = fields.require("cores")) {
      for (const Node* core : reader.items(*joined_cores, "a list of cores")) {
        link.cores.push_back(core_name(reader, *core, cores));
      }
    }
    link.bandwidth = reader.number(fields.require("bandwidth"), 0).value_or(0);
    link.is_bus = fields.has("type") &&
                  reader.choice(fields.find("type"), {"link", "bus"}, "type of link") == 1U;
    if (const auto energy = reader.number(fields.find("unit_energy_cost"), 0); energy > 0.0) {
      notes.push_back(
          fmt::format("{}:{}: unit_energy_cost ({}) between {} is left out: Stream says no unit "
                      "of it",
                      reader.file(), item->line, *energy, joined(link.cores, ", ")));
    }
    links.push_back(std::move(link));
  }
  return links;
}

// Stream counts in cycles, and so does each architecture, at this clock.
std::string rate_text(double bits_per_cycle) {
  return fmt::format("{} GB/s", bits_per_cycle * Arch{}.clock.count() / 8e9);
}

// The chip as `mapsim plan` reads it: the memory off the chip, and its cores as engines.
std::string soc_text(const std::string& name, const ZigzagMemory& memory,
                     const std::vector<ZigzagCore>& cores, std::optional<double> bus) {
  const auto rate = [](const std::optional<BitsPerCycle>& port) {
    return port ? port->count() : 0.0;
  };
  const Bandwidth& ports = memory.bandwidth;
  const double all = ports.shared ? rate(ports.shared) : rate(ports.read) + rate(ports.write);
  const double port = std::min(all, bus.value_or(all));
  std::string text = fmt::format(
      "name: {}\nsoc:\n  memory: {{bandwidth: {}, capacity: {} b, energy: {{read: {} pJ/b, write: "
      "{} "
      "pJ/b}}}}\n  engines:\n",
      name, rate_text(port), memory.size.count(),
      memory.read_energy / static_cast<double>(memory.read_width.count()),
      memory.write_energy / static_cast<double>(memory.write_width.count()));
  for (const ZigzagCore& core : cores) {
    text += fmt::format("    - {{name: {0}, arch: {0}.arch.yaml{1}{2}{3}}}\n", core.name,
                        core.count > 1 ? fmt::format(", count: {}", core.count) : "",
                        core.port ? ", port: " + rate_text(*core.port) : "",
                        core.operators.empty()
                            ? ""
                            : fmt::format(", operators: [{}]", joined(core.operators, ", ")));
  }
  text += cores.size() > 1 ? "  transitions:\n" : "";
  for (const ZigzagCore& from : cores) {
    for (const ZigzagCore& to : cores) {
      if (from.name != to.name) {
        text += fmt::format("    - {{from: {}, to: {}}}\n", from.name, to.name);
      }
    }
  }
  return text;
}

// Reads the cores of a chip, and puts the memory off the chip behind each of them.
class ChipReader {
 public:
  ChipReader(const ReadFile& read, std::vector<std::string>& notes) : read_{read}, notes_{notes} {}

  ZigzagChip read(const Document& chip) {
    Reader reader{chip};
    const Fields fields =
        reader.fields(chip.root, {"name", "cores", "core_coordinates", "offchip_core_id",
                                  "unit_energy_cost", "core_connectivity", "core_memory_sharing",
                                  "memory_aliases", "technology_node"});
    const Node* list = fields.require("cores");
    const std::vector<Core> cores =
        list == nullptr ? std::vector<Core>{} : list_cores(reader, *list);
    const Node* off_chip = fields.find("offchip_core_id");
    off_chip_ = off_chip == nullptr ? "" : core_name(reader, *off_chip, cores);
    links_ = read_links(reader, fields.find("core_connectivity"), cores, notes_);
    const std::string name = reader.name(fields.find("name")).value_or("chip");
    if (const Node* energy = fields.find("unit_energy_cost");
        energy != nullptr && energy->text != "0") {
      notes_.push_back(
          fmt::format("{}:{}: unit_energy_cost ({}) is left out: Stream says no unit of it",
                      chip.file, energy->line, energy->text));
    }
    reader.finish();
    left_out_ = keys_left_out(fields);
    read_files(chip, cores);
    for (std::size_t c = 0; c < cores.size(); ++c) {
      add_core(cores[c], machines_[c], operators_[c]);
    }
    notes_.push_back(
        fmt::format("each core is an architecture of its own, with the chip's memory "
                    "behind it; left out: {}",
                    joined(left_out_, "; ")));
    if (!behind_.empty() && !found_.cores.empty()) {
      found_.soc = soc_text(name, behind_.back(), found_.cores, only_bus());
      notes_.emplace_back(
          "soc.yaml: a plan runs groups of layers one after the other, each on one core (mapsim "
          "plan); Stream's pipelines of tiles across cores are another space");
    }
    return std::move(found_);
  }

 private:
  void read_files(const Document& chip, const std::vector<Core>& cores) {
    for (const Core& core : cores) {
      Document document = read_(core_path(chip.file, core.file));
      join_digits(document.root);
      machines_.push_back(read_core(document, notes_));
      operators_.push_back(operators_of(document, left_out_));
      if (std::find(core.ids.begin(), core.ids.end(), off_chip_) != core.ids.end()) {
        behind_ = machines_.back().memories;
      }
    }
  }

  void add_core(const Core& core, ZigzagMachine machine, const std::optional<Words>& operators) {
    const std::string ids = joined(core.ids, ", ");
    if (!machine.computes) {
      left_out_.push_back(fmt::format("{} ({}), which computes nothing", machine.name, ids));
      return;
    }
    if (!operators) {
      left_out_.push_back(
          fmt::format("{} ({}), which runs no operator that is known here", machine.name, ids));
      return;
    }
    for (ZigzagMemory memory : behind_) {
      memory.shared.clear();  // dims of another array
      machine.memories.push_back(std::move(memory));
      machine.on_chip = false;
    }
    if (machine.memories.back().roles != kAllRoles || machine.memories.size() > kMaxLevels) {
      left_out_.push_back(
          fmt::format("{} ({}), which has no memory for all operands behind it, or "
                      "too many memories",
                      machine.name, ids));
      return;
    }
    notes_.push_back(fmt::format("{}: {} of the chip", machine.name, ids));
    const std::optional<double> port = way_of(core, machine.name);
    if (port && !behind_.empty()) {
      limit(machine.memories.back().bandwidth, BitsPerCycle{*port});
    }
    while (std::any_of(found_.cores.begin(), found_.cores.end(),
                       [&](const ZigzagCore& each) { return each.name == machine.name; })) {
      machine.name += "_";
    }
    found_.cores.push_back({machine.name, arch_of(machine),
                            static_cast<std::int64_t>(core.ids.size()), *operators, port});
  }

  Arch arch_of(const ZigzagMachine& machine) {
    ZigzagArch arch = zigzag_arch(machine, std::vector<ZigzagUnrolling>(machine.dims.size()));
    if (!arch.note.empty()) {
      notes_.push_back(std::move(arch.note));
    }
    return std::move(arch.arch);
  }

  // What the way between a core and the memory off the chip passes [bits per cycle]; nullopt:
  // nothing joins them.
  std::optional<double> way_of(const Core& core, const std::string& name) {
    std::vector<double> rates;
    for (const std::string& id : core.ids) {
      const auto way = std::find_if(links_.begin(), links_.end(),
                                    [&](const Link& link) { return link.joins(id, off_chip_); });
      if (way != links_.end()) {
        ways_.insert(&*way);
        rates.push_back(way->bandwidth);
      }
    }
    if (rates.empty()) {
      if (!links_.empty() && !behind_.empty()) {
        notes_.push_back(fmt::format(
            "{}: the core has no link to the memory off the chip, as its tensors pass through "
            "links between cores; mapsim gives it a link as wide as that memory",
            name));
      }
      return std::nullopt;
    }
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    if (*least < *most) {
      notes_.push_back(
          fmt::format("{}: the links to the memory off the chip carry {} to {} b per cycle; "
                      "mapsim takes the least for all",
                      name, *least, *most));
    }
    if (rates.size() < core.ids.size()) {
      notes_.push_back(
          fmt::format("{}: {} of {} cores have a link to the memory off the chip, as the tensors "
                      "of the others pass through links between cores; mapsim gives it to all",
                      name, rates.size(), core.ids.size()));
    }
    return *least;
  }

  static void limit(Bandwidth& memory, BitsPerCycle way) {
    for (std::optional<BitsPerCycle>* rate : {&memory.shared, &memory.read, &memory.write}) {
      *rate = *rate ? std::optional{std::min(**rate, way)} : std::nullopt;
    }
  }

  // What a bus passes that is the way of all cores to the memory off the chip.
  std::optional<double> only_bus() {
    const bool any =
        std::any_of(ways_.begin(), ways_.end(), [](const Link* way) { return way->is_bus; });
    if (any && ways_.size() > 1) {
      notes_.emplace_back(
          "several ways to the memory off the chip, with a bus among them: here each core has the "
          "whole of its own");
    }
    return any && ways_.size() == 1 ? std::optional{(*ways_.begin())->bandwidth} : std::nullopt;
  }

  const ReadFile& read_;
  std::vector<std::string>& notes_;
  std::string off_chip_;  // the core of that name; empty: none
  std::vector<Link> links_;
  std::set<const Link*> ways_;  // of computing cores to the memory off the chip
  std::vector<std::string> left_out_;
  std::vector<ZigzagMachine> machines_;
  std::vector<std::optional<Words>> operators_;
  std::vector<ZigzagMemory> behind_;  // of the core off the chip
  ZigzagChip found_;
};

}  // namespace

ZigzagChip read_stream_chip(const Document& chip, const ReadFile& read,
                            std::vector<std::string>& notes) {
  return ChipReader{read, notes}.read(chip);
}

}  // namespace mapsim
