// SPDX-License-Identifier: Apache-2.0
#include "arch/accelergy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "core/reader.hpp"

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
  return part;
}

std::optional<double> read_number(Reader& reader, const Node* node) {
  const std::optional<std::string> text = reader.text(node, "a number");
  if (!text) {
    return std::nullopt;
  }
  double number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || stop != end || !std::isfinite(number) || number < 0) {
    reader.error(*node, fmt::format("{} is not a number of at least 0", quoted(*text)));
    return std::nullopt;
  }
  return number;
}

// What the tables say about one component.
using ReadComponent = std::function<void(const Fields&, const std::string&)>;

void read_tables(Reader& reader, const std::string& kind, const Words& keys,
                 const ReadComponent& read) {
  const std::string summary = kind + "_summary";
  const Fields file = reader.fields(reader.root(), {kind, summary});
  const bool is_summary = !file.has(kind) && file.has(summary);
  const Node* tables = file.require(is_summary ? summary : kind);
  if (tables == nullptr) {
    return;
  }
  const std::string list = is_summary ? "table_summary" : "tables";
  const Fields fields = reader.fields(*tables, {"version", list});
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

EnergyReferences read_ert(const Document& document) {
  Reader reader{document};
  EnergyReferences ert;
  ert.file = document.file;
  const Words keys{"name", "actions", "primitive_estimation(s)"};
  read_tables(reader, "ERT", keys, [&](const Fields& component, const std::string& name) {
    const Node* actions = component.require("actions");
    if (actions == nullptr) {
      return;
    }
    for (const Node* item : reader.items(*actions, "a list of actions")) {
      const Fields action = reader.fields(*item, {"name", "energy", "arguments"});
      const auto verb = reader.text(action.require("name"), "the name of an action");
      const auto energy = read_number(reader, action.require("energy"));
      if (verb && energy) {
        Picojoules& known = ert.components[name][*verb];
        known = std::max(known, Picojoules{*energy});
      }
    }
  });
  reader.finish();
  return ert;
}

AreaReferences read_art(const Document& document) {
  Reader reader{document};
  AreaReferences art;
  art.file = document.file;
  const Words keys{"name", "area", "primitive_estimation(s)"};
  read_tables(reader, "ART", keys, [&](const Fields& component, const std::string& name) {
    if (const auto area = read_number(reader, component.require("area"))) {
      art.components[name] = SquareMillimetres{*area / kSquareMicrometresPerMillimetre};
    }
  });
  reader.finish();
  return art;
}

}  // namespace

std::optional<Picojoules> EnergyReferences::find(const std::string& component,
                                                 std::initializer_list<const char*> actions) const {
  const auto known = components.find(component);
  if (known == components.end()) {
    return std::nullopt;
  }
  for (const char* action : actions) {
    if (const auto entry = known->second.find(action); entry != known->second.end()) {
      return entry->second;
    }
  }
  return std::nullopt;
}

EnergyReferences parse_ert(const std::string& text, const std::string& filename) {
  return read_ert(parse_yaml(text, filename));
}
AreaReferences parse_art(const std::string& text, const std::string& filename) {
  return read_art(parse_yaml(text, filename));
}
EnergyReferences load_ert(const std::string& path) { return read_ert(read_yaml(path)); }
AreaReferences load_art(const std::string& path) { return read_art(read_yaml(path)); }

}  // namespace mapsim
