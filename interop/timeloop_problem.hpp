// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/import_notes.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The section `problem`: a shape with its projections and coefficients, and the sizes of an
// instance. Timeloop knows no widths of elements: all tensors get `bits`. What the instance says of
// the layer but the shape has no use for (H, Wpad ...) is named in `notes`.
std::optional<Workload> read_timeloop_problem(Reader& reader, const Node& section, Bits bits,
                                              ImportNotes& notes);

}  // namespace mapsim
