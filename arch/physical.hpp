// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace mapsim {

// Leakage and area of one instance of a node. Absent: not given (and not zero).
struct Physical {
  std::optional<Milliwatts> leakage;
  std::optional<SquareMillimetres> area;
  std::string leakage_source, area_source;  // empty: the architecture file
  friend bool operator==(const Physical&, const Physical&) = default;
};

// A sum over all instances of the nodes that give a figure, and the names of the other nodes.
template <class Quantity>
struct Total {
  std::optional<Quantity> sum;  // absent: no node gives one
  std::vector<std::string> missing;
};

struct Arch;
Total<Milliwatts> total_leakage(const Arch& arch);
Total<SquareMillimetres> total_area(const Arch& arch);
// Leakage of the whole machine in a cycle; 0 if none is given, or the machine leaves leakage out.
Picojoules leakage_per_cycle(const Arch& arch);

}  // namespace mapsim
