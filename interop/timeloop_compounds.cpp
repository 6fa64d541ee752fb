// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_compounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_classes.hpp"

namespace mapsim {

namespace {

const std::vector<Node>& list_under(const Node& map, const char* key) {
  static const std::vector<Node> none;
  const Node* list = value_of(map, key);
  return list == nullptr ? none : list->items;
}

std::string text_under(const Node& map, const char* key) {
  const Node* text = value_of(map, key);
  return text == nullptr ? "" : text->text;
}

std::vector<std::string> parts_read(const Node& klass) {
  std::vector<std::string> names;
  for (const Node& action : list_under(klass, "actions")) {
    if (text_under(action, "name") == "read") {
      for (const Node& part : list_under(action, "subcomponents")) {
        names.push_back(text_under(part, "name"));
      }
    }
  }
  return names;
}

bool is_read(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A part of a MAC.
bool is_arithmetic(const std::string& klass) {
  const std::string word = lower_case(klass);
  return timeloop_kind_of(klass) == ComponentKind::kCompute ||
         word.find("add") != std::string::npos || word.find("mul") != std::string::npos;
}

// What the tables take it for, and the other parts.
std::string part_for_tables(const TimeloopCompound& compound, bool compute,
                            TimeloopMaterial& material) {
  std::vector<std::string> taken, rest;
  std::string classes;
  for (const auto& [name, klass] : compound.parts) {
    const bool storage = timeloop_kind_of(klass) == ComponentKind::kStorage;
    const bool used = compute ? is_arithmetic(klass) : storage && is_read(compound.read, name);
    (used ? taken : rest).push_back(fmt::format("{} ({})", name, klass));
    classes += used ? " " + klass : "";
  }
  const std::string others = rest.empty() ? ""
                                          : fmt::format("; {} cost{} nothing", joined(rest, ", "),
                                                        rest.size() == 1 ? "s" : "");
  if (compute) {
    material.klass += classes;
    return fmt::format("our table has a MAC, whatever its parts are{}{}{}",
                       taken.empty() ? "" : ": ", joined(taken, ", "), others);
  }
  if (taken.size() != 1) {
    return fmt::format(
        "our table takes it by its own class, since a read acts on {} storages of it",
        taken.size());
  }
  material.klass = classes.substr(1);
  return fmt::format("our table has its part {} of its size{}", taken.front(), others);
}

}  // namespace

std::vector<TimeloopCompound> read_timeloop_compounds(const FrontEndDocument& source,
                                                      const Entry& section) {
  std::vector<TimeloopCompound> all;
  for (const Node& klass : list_under(section.value, "classes")) {
    TimeloopCompound compound{text_under(klass, "name"),
                              place_of(source, klass),
                              place_of(source, section.key),
                              {},
                              parts_read(klass)};
    for (const Node& part : list_under(klass, "subcomponents")) {
      compound.parts.emplace_back(text_under(part, "name"), text_under(part, "class"));
    }
    if (!compound.parts.empty()) {
      all.push_back(std::move(compound));
    }
  }
  return all;
}

std::set<std::string> take_compounds(const std::vector<TimeloopCompound>& compounds,
                                     TimeloopArchSection& arch, ImportNotes& notes) {
  std::set<std::string> sections;
  for (auto& [name, material] : arch.materials) {
    const std::vector<TextPiece> classes = pieces(material.klass, " ");  // class and subclass
    const auto compound =
        std::find_if(compounds.begin(), compounds.end(), [&](const TimeloopCompound& each) {
          return std::any_of(classes.begin(), classes.end(),
                             [&](const TextPiece& klass) { return klass.text == each.name; });
        });
    if (compound != compounds.end() && !arch.access_energies.contains(name)) {
      const bool compute = name == arch.machine.compute_name;
      const std::string taken = part_for_tables(*compound, compute, material);
      notes.lines.push_back(fmt::format("{}: {} is of the compound class {}: {}", compound->place,
                                        name, compound->name, taken));
      sections.insert(compound->section);
    }
  }
  return sections;
}

}  // namespace mapsim
