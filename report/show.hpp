// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

// The nodes of a machine, outermost on top, as SVG.
std::string show_arch(const Arch& arch);

// The same, and a mapping that fits on it: what lies along the rows and columns of its array, what
// stays there and what moves, how folds at the edge use it, and the nest.
std::string show_mapping(const Problem& problem, const Mapping& mapping, const Cost& cost);

// The part of a fanout that is in use, and for how many steps of the first instance.
struct Occupancy {
  std::int64_t columns = 1;
  std::int64_t rows = 1;
  std::int64_t steps = 0;
  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};
// Most steps first.
std::vector<Occupancy> occupancies(const Problem& problem, const Nest& nest, FanoutId fanout);

}  // namespace mapsim
