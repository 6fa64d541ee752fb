// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

// The nodes of a machine, outermost on top. A whole SVG file.
std::string show_arch(const Arch& arch);

// The same with a mapping, which must fit: the dims along the rows and columns of the array, the
// tensors that stay there and those that move, the instances that folds at the edge use, and the
// nest.
std::string show_mapping(const Problem& problem, const Mapping& mapping, const Cost& cost);

// The part of a fanout that is in use, and for how many steps of its first instance.
struct Occupancy {
  std::int64_t columns = 1;
  std::int64_t rows = 1;
  std::int64_t steps = 0;
  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};
// All parts that are ever in use, most steps first.
std::vector<Occupancy> occupancies(const Problem& problem, const Nest& nest, FanoutId fanout);

}  // namespace mapsim
