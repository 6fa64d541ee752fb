// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/reader.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim {

// Reads `unroll`, `extents` and `loops` of a mapspace (docs/formats.md) into `constraints`, whose
// other members have been read. Rules that contradict each other, the architecture or the workload
// are errors at their place.
void read_rules(Reader& reader, const Problem& problem, const Fields& mapspace,
                Constraints& constraints);

// Words for dims: their names, then those for the GEMM axes and for windows, which may mean none.
std::vector<std::pair<std::string, DimSet>> dim_words(const Workload& workload);

// Words for tensors: their names, then those of roles.
std::vector<std::pair<std::string, TensorSet>> tensor_words(const Workload& workload);

}  // namespace mapsim
