// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/reader.hpp"
#include "costmodel/objective_function.hpp"

namespace mapsim::check {

// What a certificate says instead of a value where no mapping tree fits.
inline constexpr const char* kNoTreeFits = "nothing fits";

// "energy", "energy + 2*latency"; throws a ConfigError where it is no objective.
ObjectiveFunction read_function(Reader& reader, const Node& node);
// "12.5 pJ", or infinite where nothing fits.
double read_value(Reader& reader, const Node& node, const std::string& unit);

}  // namespace mapsim::check
