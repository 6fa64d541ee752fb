// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_machine_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_attributes.hpp"

namespace mapsim {

std::vector<std::string> notes_on_widths(const TimeloopMachine& machine) {
  std::vector<std::string> notes;
  for (const TimeloopStorage& storage : machine.storages) {
    const std::int64_t bits = machine.storages.front().word_bits;
    if (storage.word_bits != bits && storage.name.find("inter_") != 0) {
      notes.push_back(fmt::format(
          "{}: its words have {} b and those of {} {} b, but in Timeloop each holds one element; "
          "written with words of {} b",
          storage.name, storage.word_bits, machine.storages.front().name, bits, bits));
    }
  }
  return notes;
}

std::vector<std::string> notes_on_unread(const TimeloopArchSection& arch, bool own_tables) {
  std::vector<std::string> notes;
  for (const auto& [component, attribute] : arch.unread) {
    const bool taken = own_tables && component == arch.machine.compute_name &&
                       arch.materials.at(component).multiplier_at == &attribute->value;
    notes.push_back(fmt::format(
        "'{}' ({}) around {} is not read{}, as by Timeloop: before version 0.4 a component has its "
        "own attributes alone{}",
        attribute->key.text, attribute->value.text, component,
        taken ? " for counts and cycles" : "", taken ? "; our tables of energies take it" : ""));
  }
  return notes;
}

// Timeloop's table of wires, where nothing else says what a hop costs, says 0
// (pat-public/src/pat/pat.cpp, WireEnergy).
std::string note_on_networks(const TimeloopMachine& machine,
                             const std::set<std::string>& unknown_hops) {
  std::vector<std::string> silent;
  for (std::size_t l = 0; l < machine.storages.size(); ++l) {
    if (!machine.storages[l].energy_per_hop && machine.has_fanout(l) &&
        !unknown_hops.contains(machine.storages[l].name)) {
      silent.push_back(machine.storages[l].name);
    }
  }
  return silent.empty()
             ? ""
             : fmt::format(
                   "{}: neither energy_per_hop nor wire_energy: hops cost nothing, as by "
                   "the table of wires that comes with Timeloop",
                   joined(silent, ", "));
}

void name_unread_words(ImportNotes& notes) {
  std::erase_if(notes.trifles, [](const ImportNotes::Trifle& each) {
    return each.kind == std::string_view{kOfFormats} && describes_words(each.what);
  });
  for (ImportNotes::Trifle& each : notes.trifles) {
    if (each.kind == std::string_view{kOfFormats}) {
      each.kind = "not read, attributes of formats of sparse tensors";
    }
  }
}

}  // namespace mapsim
