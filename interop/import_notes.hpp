// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/document.hpp"

namespace mapsim {

// The notes of an import.
struct ImportNotes {
  std::vector<std::string> lines;  // about what changes a figure, or may change it
  // File and line of a node of the current document: "arch.yaml:12".
  std::function<std::string(const Node&)> place;
  // Adds a line about a node: "arch.yaml:12: TEXT".
  void add(const Node& at, const std::string& text);
  // About what changes no figure. One line names all of a kind, each with those that have it.
  struct Trifle {
    const char* kind;   // "attributes that only estimators of energy and area read"
    std::string what;   // "n_banks"
    std::string whose;  // "glb"; may be empty
  };
  std::vector<Trifle> trifles;
  // Adds a trifle about a node: "n_banks (glb arch.yaml:12)".
  void add(const Node& at, Trifle trifle);
  // The lines, then the trifles: "KIND: n_banks (glb, spad); technology (DRAM)".
  std::vector<std::string> text() const;
};

}  // namespace mapsim
