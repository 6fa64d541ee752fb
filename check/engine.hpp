// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/mapping.hpp"
#include "costmodel/problem.hpp"
#include "workloads/form.hpp"

namespace mapsim::check {

// An engine after NVDLA has a mapspace of its own: the schedules that its sequencer can run, of
// every form of the layer (docs/nvdla.md, Search). They are listed here by code of its own.

// Is the layer one that such an engine runs, a convolution or a matrix product?
bool runs_on_engine(const Workload& workload);

// Of a problem in one of its forms: why its schedules are no mappings of the machine, whose levels
// are others; empty: they are.
std::string why_no_engine(const Problem& problem);

// Every form that the machine has of the layer, which is in none yet: as it is, Winograd, image
// input, each number of groups merged, with `batches` several frames of a matrix product.
std::vector<Form> list_forms(const Problem& problem, bool batches);

// Frames that are computed together: value and figures are of one of them.
std::int64_t frames_of(const Form& form);

// The machine with the layer in a form; nullopt: the layer has no such form.
std::optional<Problem> formed(const Problem& problem, Form form);

// The least that any schedule of a problem in a form with one kind of atomic operations, a merge,
// comes to: the energy of its MACs [pJ], the cycles of its operations.
struct EngineBound {
  double energy = 0;
  double cycles = 0;
};
EngineBound floor_of_schedules(const Problem& problem);

// Calls `visit` with each schedule of a problem in one of its forms, in a fixed order; returns how
// many there are. Without `visit`: only how many.
std::int64_t visit_schedules(const Problem& problem,
                             const std::function<void(const Mapping&)>& visit);

}  // namespace mapsim::check
