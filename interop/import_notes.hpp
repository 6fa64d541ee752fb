// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/document.hpp"

namespace mapsim {

// What an import has to say of what it read.
struct ImportNotes {
  std::vector<std::string> lines;  // what changes a figure, or may
  // Where a node of the document that is read now was written: "arch.yaml:12".
  std::function<std::string(const Node&)> place;
  // A line about what stands there: "arch.yaml:12: TEXT".
  void add(const Node& at, const std::string& text);
  // What changes none: things of one kind are named in one line, each with those that have it.
  struct Trifle {
    const char* kind;   // "attributes that only estimators of energy and area read"
    std::string what;   // "n_banks"
    std::string whose;  // "glb"; may be empty
  };
  std::vector<Trifle> trifles;
  // A trifle of what stands there: "n_banks (glb arch.yaml:12)".
  void add(const Node& at, Trifle trifle);
  // The lines, then the trifles: "KIND: n_banks (glb, spad); technology (DRAM)".
  std::vector<std::string> text() const;
};

}  // namespace mapsim
