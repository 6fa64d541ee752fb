// SPDX-License-Identifier: Apache-2.0
#include "campaign/own_error.hpp"

#include <algorithm>

#include "arch/gpu_load.hpp"
#include "arch/gpu_words.hpp"
#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/substitute.hpp"

namespace mapsim {

namespace {

// The error at the place of `tried`, in a design that has it after `others`.
std::optional<std::string> error_in(const Machine& machine, const Settings& others,
                                    const Setting& tried) {
  Document document = machine.document;
  for (const Setting& other : others) {
    if (other.path != tried.path && substitute(document.root, other.path, other.value)) {
      return std::nullopt;
    }
  }
  if (substitute(document.root, tried.path, tried.value)) {
    return std::nullopt;
  }
  const Node* place = find(document.root, tried.path);
  try {
    if (machine.read_chip) {
      machine.read_chip(document);
    } else if (describes_gpu(document)) {
      read_gpu(document);
    } else {
      read_arch(document);
    }
  } catch (const ConfigError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      if (place != nullptr && diagnostic.line == place->line &&
          diagnostic.column == place->column) {
        return diagnostic.message;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> own_error(const Machine& machine, const Settings* beside,
                                     const Setting& tried) {
  const auto design_of = [&](const Settings& item, std::size_t axis, std::size_t chosen) {
    Settings others = item;
    for (std::size_t a = 0; a < machine.grid.size(); ++a) {
      const auto& [path, values] = machine.grid[a];
      if (!values.empty()) {
        others.push_back({path, values[a == axis ? chosen : 0]});
      }
    }
    return others;
  };
  const Settings& item = beside != nullptr ? *beside : machine.list.front();
  const auto found = error_in(machine, design_of(item, 0, 0), tried);
  if (!found) {
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis < machine.grid.size(); ++axis) {
    for (std::size_t chosen = 1; chosen < machine.grid[axis].second.size(); ++chosen) {
      if (!error_in(machine, design_of(item, axis, chosen), tried)) {
        return std::nullopt;
      }
    }
  }
  const bool has_others = beside == nullptr && machine.list.size() > 1;
  const bool fits_another =
      has_others &&
      std::any_of(machine.list.begin(), machine.list.end(), [&](const Settings& other) {
        return !error_in(machine, design_of(other, 0, 0), tried);
      });
  return fits_another ? std::nullopt : found;
}

}  // namespace mapsim
