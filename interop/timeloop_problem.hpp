// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "core/reader.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The section `problem`: a shape with its projections and coefficients, and the sizes of an
// instance. Timeloop knows no widths of elements: all tensors get `bits`.
std::optional<Workload> read_timeloop_problem(Reader& reader, const Node& section, Bits bits);

}  // namespace mapsim
