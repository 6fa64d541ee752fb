// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "costmodel/evaluate.hpp"
#include "costmodel/roofline.hpp"

namespace mapsim {

// Adds the cost of a mapping to `json`: energy, time, ports, accesses (docs/results_keys.md).
void add_cost(nlohmann::ordered_json& json, const Problem& problem, const Mapping& mapping,
              const Cost& cost);

// The bounds of a roofline (docs/results_keys.md).
nlohmann::ordered_json bounds_json(const Arch& arch, const Workload& workload,
                                   const Roofline& bounds);

}  // namespace mapsim
