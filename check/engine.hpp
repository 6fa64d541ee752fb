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

// NVDLA-like engines have a mapspace of their own: the schedules that the sequencer can run, in
// every form of the layer (docs/nvdla.md, Search). This code lists them independently of the
// search.

// Can such an engine run the layer? It runs convolutions and matrix products.
bool runs_on_engine(const Workload& workload);

// For a problem in one of its forms: why the machine's levels do not allow such schedules; empty if
// they do.
std::string why_no_engine(const Problem& problem);

// Every form in which the machine can run the layer (given in none): direct, Winograd, image input,
// each number of merged groups and, with `batches`, several frames of a matrix product.
std::vector<Form> list_forms(const Problem& problem, bool batches);

// Frames that are computed together. The goal's figures are per frame.
std::int64_t frames_of(const Form& form);

// The machine with the layer in a form; nullopt: the layer does not have that form.
std::optional<Problem> formed(const Problem& problem, Form form);

// Lower bounds over the schedules of a problem in a form with one kind of atomic operation (a
// merge): energy of its MACs [pJ], cycles of its operations.
struct EngineBound {
  double energy = 0;
  double cycles = 0;
};
EngineBound bound_of_schedules(const Problem& problem);

// Calls `visit` with each schedule of a problem in one of its forms, in a fixed order, and returns
// their number. Without `visit` it only counts.
std::int64_t visit_schedules(const Problem& problem,
                             const std::function<void(const Mapping&)>& visit);

}  // namespace mapsim::check
