// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "campaign/report_data.hpp"
#include "costmodel/evaluate.hpp"

namespace mapsim {

// The energy of a layer by part, in pJ: {level: {tensor: pJ}, fanout or compute or leakage: pJ}.
nlohmann::ordered_json breakdown_json(const Arch& arch, const Workload& workload, const Cost& cost);
std::vector<EnergyPart> energy_parts(const nlohmann::ordered_json& breakdown);

// A path without the prefix that all paths share: GLB.capacity.
std::string short_path(const std::string& path);

}  // namespace mapsim
