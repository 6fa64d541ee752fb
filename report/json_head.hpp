// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "report/json.hpp"

namespace mapsim {

// What every result begins with: schema, tool, command, inputs (docs/results.md).
nlohmann::ordered_json provenance_json(const Provenance& origin);

}  // namespace mapsim
