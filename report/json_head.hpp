// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "report/json.hpp"
#include "report/widths.hpp"

namespace mapsim {

// The beginning of every result: schema, tool, command, inputs (docs/results.md).
nlohmann::ordered_json provenance_json(const Provenance& origin);

// Adds `operand_bits`, `sum_bits` and `output_bits`.
void add_widths(nlohmann::ordered_json& json, const Widths& widths);

// The value of `simulation`.
nlohmann::ordered_json record_json(const SimulationRecord& record);

// The lists `operands_bits`, `outputs_bits` and `sums_bits`.
nlohmann::ordered_json widths_json(const WidthSets& widths);

}  // namespace mapsim
