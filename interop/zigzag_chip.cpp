// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "interop/foreign_yaml.hpp"
#include "interop/zigzag.hpp"

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
    std::string file = reader.text(&entry->value, "the file of a core").value_or("");
    file = (file.find('/') == std::string::npos ? "cores/" : "") + file;  // where Stream looks
    auto core = std::find_if(cores.begin(), cores.end(),
                             [&](const Core& each) { return each.file == file; });
    core = core == cores.end() ? cores.insert(core, Core{file, {}}) : core;
    core->ids.push_back(entry->key.text);
  }
  return cores;
}

// What joins the cores.
std::vector<std::string> keys_left_out(const Fields& fields) {
  std::vector<std::string> left_out;
  for (const char* key : {"core_coordinates", "unit_energy_cost", "core_connectivity",
                          "core_memory_sharing", "technology_node"}) {
    if (fields.has(key)) {
      left_out.emplace_back(key);
    }
  }
  return left_out;
}

ZigzagMachine read_core(const Document& document, std::vector<std::string>& notes) {
  Reader reader{document};
  ZigzagMachine machine = read_zigzag_machine(reader, notes);
  reader.finish();
  return machine;
}

}  // namespace

std::vector<ZigzagCore> read_stream_chip(const Document& chip, const ReadFile& read,
                                         std::vector<std::string>& notes) {
  Reader reader{chip};
  const Fields fields = reader.fields(
      chip.root, {"name", "cores", "core_coordinates", "offchip_core_id", "unit_energy_cost",
                  "core_connectivity", "core_memory_sharing", "technology_node"});
  const Node* list = fields.require("cores");
  const std::vector<Core> cores = list == nullptr ? std::vector<Core>{} : list_cores(reader, *list);
  const Node* off_chip = fields.find("offchip_core_id");
  reader.finish();
  std::vector<std::string> left_out = keys_left_out(fields);
  std::vector<ZigzagMachine> machines;
  std::vector<ZigzagMemory> behind;  // of the core off the chip
  for (const Core& core : cores) {
    const std::filesystem::path folder = std::filesystem::path{chip.file}.parent_path();
    const std::string path = (folder / core.file).lexically_normal().string();
    machines.push_back(read_core(read(path), notes));
    const bool is_off_chip = off_chip != nullptr && std::find(core.ids.begin(), core.ids.end(),
                                                              off_chip->text) != core.ids.end();
    behind = is_off_chip ? machines.back().memories : behind;
  }
  std::vector<ZigzagCore> found;
  for (std::size_t c = 0; c < cores.size(); ++c) {
    ZigzagMachine machine = machines[c];
    if (!machine.computes) {
      left_out.push_back(
          fmt::format("{} ({}), which computes nothing", machine.name, joined(cores[c].ids, ", ")));
      continue;
    }
    for (ZigzagMemory memory : behind) {
      memory.shared.clear();  // dims of another array
      machine.memories.push_back(std::move(memory));
      machine.on_chip = false;
    }
    if (machine.memories.back().roles != kAllRoles || machine.memories.size() > kMaxLevels) {
      left_out.push_back(
          fmt::format("{} ({}), which has no memory for all operands behind it, or "
                      "too many memories",
                      machine.name, joined(cores[c].ids, ", ")));
      continue;
    }
    notes.push_back(fmt::format("{}: {} of the chip", machine.name, joined(cores[c].ids, ", ")));
    while (std::any_of(found.begin(), found.end(),
                       [&](const ZigzagCore& each) { return each.name == machine.name; })) {
      machine.name += "_";
    }
    const std::vector<ZigzagUnrolling> any(machine.dims.size());
    found.push_back({machine.name, zigzag_arch(machine, any).arch});
  }
  notes.push_back(
      fmt::format("each core is an architecture of its own, with the chip's memory "
                  "behind it; left out: {}",
                  joined(left_out, "; ")));
  return found;
}

}  // namespace mapsim
