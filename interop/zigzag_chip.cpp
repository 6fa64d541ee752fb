// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
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
    if (fields.has(key)) {
      left_out.emplace_back(key);
    }
  }
  if (fields.has("core_connectivity")) {
    left_out.emplace_back("links between cores (tensors pass through the chip's memory)");
  }
  return left_out;
}

ZigzagMachine read_core(const Document& document, std::vector<std::string>& notes) {
  Reader reader{document};
  ZigzagMachine machine = read_zigzag_machine(reader, notes);
  reader.finish();
  std::erase(notes, machine.name + ": operator_types is left out");  // soc.yaml has them
  return machine;
}

// The operators of a core, by the names that ONNX and ours have in common.
Words operators_of(const Document& core, std::vector<std::string>& left_out) {
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
  return known;
}

// What a link or a bus between a core and the memory off the chip passes [bits per cycle]; nullopt:
// nothing joins them.
std::optional<double> way_to(const Node* links, const std::string& core,
                             const std::string& memory) {
  for (std::size_t i = 0; links != nullptr && i < links->items.size(); ++i) {
    const Node* ends = value_of(links->items[i], "cores");
    const Node* bandwidth = value_of(links->items[i], "bandwidth");
    const auto has = [ends](const std::string& id) {
      return ends != nullptr && std::any_of(ends->items.begin(), ends->items.end(),
                                            [&](const Node& each) { return each.text == id; });
    };
    if (bandwidth != nullptr && has(core) && has(memory)) {
      return std::strtod(bandwidth->text.c_str(), nullptr);
    }
  }
  return std::nullopt;
}

// Stream counts in cycles, and so does each architecture, at this clock.
std::string rate_text(double bits_per_cycle) {
  return fmt::format("{} GB/s", bits_per_cycle * Arch{}.clock.count() / 8e9);
}

// The chip as `mapsim plan` reads it: the memory off the chip, and its cores as engines.
std::string soc_text(const std::string& name, const ZigzagMemory& memory,
                     const std::vector<ZigzagCore>& cores) {
  const auto rate = [](const std::optional<BitsPerCycle>& port) {
    return port ? port->count() : 0.0;
  };
  const Bandwidth& ports = memory.bandwidth;
  const double port = ports.shared ? rate(ports.shared) : rate(ports.read) + rate(ports.write);
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
    off_chip_ = off_chip == nullptr ? "" : off_chip->text;
    links_ = fields.find("core_connectivity");
    const std::string name = reader.name(fields.find("name")).value_or("chip");
    if (const Node* energy = fields.find("unit_energy_cost");
        energy != nullptr && energy->text != "0") {
      notes_.push_back(fmt::format("unit_energy_cost ({}) is left out: Stream says no unit of it",
                                   energy->text));
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
      found_.soc = soc_text(name, behind_.back(), found_.cores);
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

  void add_core(const Core& core, ZigzagMachine machine, const Words& operators) {
    const std::string ids = joined(core.ids, ", ");
    if (!machine.computes) {
      left_out_.push_back(fmt::format("{} ({}), which computes nothing", machine.name, ids));
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
    std::optional<double> port;
    std::size_t linked = 0;
    for (const std::string& id : core.ids) {
      const auto way = way_to(links_, id, off_chip_);
      linked += way ? 1U : 0U;
      port = port ? port : way;
    }
    if (port && linked < core.ids.size()) {
      notes_.push_back(
          fmt::format("{}: {} of {} have a link to the memory off the chip; here all have it, "
                      "where the tensors "
                      "of the others pass through links between cores",
                      machine.name, linked, core.ids.size()));
    }
    while (std::any_of(found_.cores.begin(), found_.cores.end(),
                       [&](const ZigzagCore& each) { return each.name == machine.name; })) {
      machine.name += "_";
    }
    const std::vector<ZigzagUnrolling> any(machine.dims.size());
    found_.cores.push_back({machine.name, zigzag_arch(machine, any).arch,
                            static_cast<std::int64_t>(core.ids.size()), operators, port});
  }

  const ReadFile& read_;
  std::vector<std::string>& notes_;
  std::string off_chip_;         // the core of that name; empty: none
  const Node* links_ = nullptr;  // or null
  std::vector<std::string> left_out_;
  std::vector<ZigzagMachine> machines_;
  std::vector<Words> operators_;
  std::vector<ZigzagMemory> behind_;  // of the core off the chip
  ZigzagChip found_;
};

}  // namespace

ZigzagChip read_stream_chip(const Document& chip, const ReadFile& read,
                            std::vector<std::string>& notes) {
  return ChipReader{read, notes}.read(chip);
}

}  // namespace mapsim
