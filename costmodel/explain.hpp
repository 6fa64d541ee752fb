// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"

namespace mapsim {

// One action of a machine, and its energy: count x width x density x per_unit.
struct EnergyTerm {
  std::string node;
  std::optional<TensorId> tensor;  // of an access
  // "read", "read-back", "drain", "fill", "update", "add", "hop", "MAC", "leak"; with zeros also
  // "read, format", "read, gated", "MAC, skipped" and the like
  std::string action;
  double count = 0;     // elements, additions, hops of elements, MACs, or cycles of all instances
  Bits width{0};        // of an element; 0: per_unit is per action
  double density = 1;   // share that is not zero; the rest costs nothing
  double per_unit = 0;  // pJ per bit, or per action
  Picojoules energy{0};
  std::string source;  // where per_unit comes from; empty: from the architecture file
};

// The whole energy of a mapping, in the order of the breakdown, without actions that do not occur.
std::vector<EnergyTerm> explain_energy(const Problem& problem, const Cost& cost);

}  // namespace mapsim
