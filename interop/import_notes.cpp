// SPDX-License-Identifier: Apache-2.0
#include "interop/import_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

// By key, in the order of the first of each.
template <class Value>
using Groups = std::vector<std::pair<std::string, Value>>;

template <class Value>
Value& group_of(Groups<Value>& groups, const std::string& key) {
  const auto known = std::find_if(groups.begin(), groups.end(),
                                  [&](const auto& group) { return group.first == key; });
  return known == groups.end() ? groups.emplace_back(key, Value{}).second : known->second;
}

}  // namespace

void ImportNotes::add(const Node& at, const std::string& text) {
  lines.push_back(place ? fmt::format("{}: {}", place(at), text) : text);
}

void ImportNotes::add(const Node& at, Trifle trifle) {
  if (place) {
    trifle.whose += fmt::format("{}{}", trifle.whose.empty() ? "" : " ", place(at));
  }
  trifles.push_back(std::move(trifle));
}

std::vector<std::string> ImportNotes::text() const {
  using Owners = std::vector<std::string>;
  Groups<Groups<Owners>> kinds;
  for (const Trifle& trifle : trifles) {
    Owners& owners = group_of(group_of(kinds, trifle.kind), trifle.what);
    if (!trifle.whose.empty() &&
        std::find(owners.begin(), owners.end(), trifle.whose) == owners.end()) {
      owners.push_back(trifle.whose);
    }
  }
  std::vector<std::string> all = lines;
  for (const auto& [kind, things] : kinds) {
    std::vector<std::string> named;
    for (const auto& [what, owners] : things) {
      named.push_back(owners.empty() ? what : fmt::format("{} ({})", what, joined(owners, ", ")));
    }
    all.push_back(fmt::format("{}: {}", kind, joined(named, "; ")));
  }
  return all;
}

}  // namespace mapsim
