// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "costmodel/evaluate.hpp"
#include "costmodel/roofline.hpp"

namespace mapsim {

// What a mapping costs: energy, time, ports, accesses (docs/results.md).
void add_cost(nlohmann::ordered_json& json, const Problem& problem, const Mapping& mapping,
              const Cost& cost);

nlohmann::ordered_json bounds_json(const Arch& arch, const Workload& workload,
                                   const Roofline& bounds);

}  // namespace mapsim
