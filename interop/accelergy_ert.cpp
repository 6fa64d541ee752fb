// SPDX-License-Identifier: Apache-2.0
#include "interop/accelergy_ert.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

// system.PE[0..7].RF(1..8) -> RF
std::string component_of(const std::string& path) {
  std::string name = path.substr(0, path.find_last_not_of(" ") + 1);
  const std::size_t range = name.find_last_of("[(");
  if (range != std::string::npos && (name.ends_with(']') || name.ends_with(')'))) {
    name.resize(range);
  }
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

void read_action(Reader& reader, const Node& node, std::map<std::string, double>& actions) {
  const Fields fields = reader.fields(node, {"name", "arguments", "energy"});
  const auto name = reader.text(fields.require("name"), "the name of an action");
  const auto energy = read_number(reader, fields.require("energy"), 0);
  if (name && energy) {
    double& dearest = actions.try_emplace(*name, 0).first->second;
    dearest = std::max(dearest, *energy);
  }
}

}  // namespace

std::optional<double> EnergyTable::action(const std::string& component,
                                          std::initializer_list<const char*> names) const {
  const auto found = components.find(component);
  if (found == components.end()) {
    return std::nullopt;
  }
  for (const char* name : names) {
    if (const auto action = found->second.find(name); action != found->second.end()) {
      return action->second;
    }
  }
  return std::nullopt;
}

EnergyTable read_energy_table(Reader& reader, const Node& section) {
  EnergyTable table;
  const Fields fields = reader.fields(section, {"version", "tables"});
  const Node* tables = fields.require("tables");
  if (tables == nullptr) {
    return table;
  }
  for (const Node* item : reader.items(*tables, "a list of tables")) {
    const Fields component = reader.fields(*item, {"name", "actions"});
    const auto name = reader.text(component.require("name"), "the name of a component");
    const Node* actions = component.require("actions");
    if (!name || actions == nullptr) {
      continue;
    }
    const auto [at, fresh] = table.components.try_emplace(component_of(*name));
    if (!fresh) {
      reader.error(component.place("name"),
                   fmt::format("a second table for {}", quoted(component_of(*name))));
    }
    for (const Node* action : reader.items(*actions, "a list of actions")) {
      read_action(reader, *action, at->second);
    }
  }
  return table;
}

}  // namespace mapsim
