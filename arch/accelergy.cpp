// SPDX-License-Identifier: Apache-2.0
#include "arch/accelergy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/file_kind.hpp"

namespace mapsim {
namespace {

constexpr double kSquareMicrometresPerMillimetre = 1e6;

// Without the ranges of instances, which may stand anywhere: chip.PE[0..3].RF(1..8).
std::string last_part(const std::string& name) {
  std::string part;
  bool in_range = false;
  for (const char c : name) {
    const bool ends = c == ']' || c == ')';
    in_range = c == '[' || c == '(' || (in_range && !ends);
    if (c == '.' && !in_range) {
      part.clear();
    } else if (!in_range && !ends) {
      part += c;
    }
  }
  return part.substr(0, part.find_last_not_of(' ') + 1);
}

// What the tables say about one component.
using ReadComponent = std::function<void(const Fields&, const std::string&)>;

void read_tables(Reader& reader, const Node& section, const std::string& list, const Words& keys,
                 const ReadComponent& read) {
  const Fields fields = reader.fields(section, {"version", list});
  const Node* items = fields.require(list);
  if (items == nullptr) {
    return;
  }
  std::map<std::string, int> lines;
  for (const Node* item : reader.items(*items, "a list of components")) {
    const Fields component = reader.fields(*item, keys);
    const auto name = reader.text(component.require("name"), "the name of a component");
    if (!name) {
      continue;
    }
    const auto [known, fresh] = lines.emplace(last_part(*name), item->line);
    if (!fresh) {
      reader.error(*item, fmt::format("the component of line {} ends in {}, too", known->second,
                                      quoted(known->first)));
    }
    read(component, known->first);
  }
}

void keep_largest(std::map<std::string, Picojoules>& actions, const std::string& verb,
                  double energy) {
  Picojoules& known = actions[verb];
  known = std::max(known, Picojoules{energy});
}

// Version 0.2: a map from components to maps from actions to energies, or lists of these.
EnergyReferences read_energy_maps(Reader& reader, const Node& tables) {
  EnergyReferences ert;
  for (const Entry* component : reader.entries(tables, "a map of components")) {
    auto& known = ert.components[last_part(component->key.text)];
    if (!known.empty()) {
      reader.error(component->key, fmt::format("another component ends in {}, too",
                                               quoted(last_part(component->key.text))));
    }
    for (const Entry* action : reader.entries(component->value, "a map of actions")) {
      const std::vector<const Node*> energies =
          action->value.kind == Node::Kind::kSequence
              ? reader.items(action->value, "a list of energies")
              : std::vector<const Node*>{&action->value};
      for (const Node* each : energies) {
        const Fields fields = reader.fields(*each, {"energy", "arguments"});
        if (const auto energy = reader.number(fields.require("energy"), 0)) {
          keep_largest(known, action->key.text, *energy);
        }
      }
    }
  }
  return ert;
}

EnergyReferences read_energies(Reader& reader, const Node& section, const std::string& list) {
  for (const Entry& entry : section.entries) {
    if (entry.key.text == list && entry.value.kind == Node::Kind::kMap) {
      reader.fields(section, {"version", list});
      return read_energy_maps(reader, entry.value);
    }
  }
  EnergyReferences ert;
  const Words keys{"name", "actions", "primitive_estimation(s)"};
  read_tables(reader, section, list, keys, [&](const Fields& component, const std::string& name) {
    const Node* actions = component.require("actions");
    if (actions == nullptr) {
      return;
    }
    for (const Node* item : reader.items(*actions, "a list of actions")) {
      const Fields action = reader.fields(*item, {"name", "energy", "arguments"});
      const auto verb = reader.text(action.require("name"), "the name of an action");
      const auto energy = reader.number(action.require("energy"), 0);
      if (verb && energy) {
        keep_largest(ert.components[name], *verb, *energy);
      }
    }
  });
  return ert;
}

AreaReferences read_areas(Reader& reader, const Node& section, const std::string& list) {
  AreaReferences art;
  const Words keys{"name", "area", "primitive_estimation(s)"};
  read_tables(reader, section, list, keys, [&](const Fields& component, const std::string& name) {
    if (const auto area = reader.number(component.require("area"), 0)) {
      art.components[name] = SquareMillimetres{*area / kSquareMicrometresPerMillimetre};
    }
  });
  return art;
}

// A file of its own: the section `kind`, or its summary.
template <class References>
References read_file(const Document& document, const std::string& kind,
                     References (*read)(Reader&, const Node&, const std::string&)) {
  Reader reader{document};
  const std::string summary = kind + "_summary";
  const Fields file = reader.fields(reader.root(), {kind, summary});
  const bool is_summary = !file.has(kind) && file.has(summary);
  const Node* section = file.require(is_summary ? summary : kind);
  References references;
  if (section != nullptr) {
    references = read(reader, *section, is_summary ? "table_summary" : "tables");
  }
  references.file = document.file;
  reader.finish();
  return references;
}

}  // namespace

const char* EnergyReferences::action_of(const std::string& component, Actions actions) const {
  const auto known = components.find(component);
  const auto first = std::find_if(actions.begin(), actions.end(), [&](const char* action) {
    return known != components.end() && known->second.count(action) > 0;
  });
  return first == actions.end() ? nullptr : *first;
}

std::optional<Picojoules> EnergyReferences::find(const std::string& component,
                                                 Actions actions) const {
  const char* action = action_of(component, actions);
  return action == nullptr ? std::nullopt : std::optional{components.at(component).at(action)};
}

std::vector<std::string> other_actions(const EnergyReferences& table,
                                       const std::string& component) {
  std::vector<std::string> others;
  const auto known = table.components.find(component);
  if (known == table.components.end()) {
    return others;
  }
  const std::array<Actions, 5> lists{kReadActions, kWriteActions, kUpdateActions, kComputeActions,
                                     kLeakActions};
  for (const auto& action : known->second) {
    const bool named = std::any_of(lists.begin(), lists.end(), [&](Actions list) {
      return std::find(list.begin(), list.end(), action.first) != list.end();
    });
    if (!named) {
      others.push_back(action.first);
    }
  }
  return others;
}

EnergyReferences read_energy_tables(Reader& reader, const Node& section) {
  return read_energies(reader, section, "tables");
}
AreaReferences read_area_tables(Reader& reader, const Node& section) {
  return read_areas(reader, section, "tables");
}

EnergyReferences parse_ert(const std::string& text, const std::string& filename) {
  return read_file(parse_yaml(text, filename), "ERT", read_energies);
}
AreaReferences parse_art(const std::string& text, const std::string& filename) {
  return read_file(parse_yaml(text, filename), "ART", read_areas);
}
EnergyReferences load_ert(const std::string& path) {
  return read_file(read_yaml(checked_file(path, {FileKind::kAccelergy})), "ERT", read_energies);
}
AreaReferences load_art(const std::string& path) {
  return read_file(read_yaml(checked_file(path, {FileKind::kAccelergy})), "ART", read_areas);
}

}  // namespace mapsim
