// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/import_notes.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Reads the section `problem`: a shape with its projections and coefficients, and the sizes of an
// instance. Timeloop has no widths of elements, so all tensors get `bits`. Notes name sizes of the
// instance that the shape does not use (H, Wpad ...). Errors go to the reader; nullopt: there are
// some.
std::optional<Workload> read_timeloop_problem(Reader& reader, const Node& section, Bits bits,
                                              ImportNotes& notes);

}  // namespace mapsim
