// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"
#include "core/reader.hpp"

namespace mapsim {

// The map under `timing` of the compute node; `arch` has all fanouts.
Timing read_timing(Reader& reader, const Node& node, const Arch& arch);

// The same map in one line of YAML; empty without a model.
std::string print_timing(const Timing& timing, const Arch& arch);

}  // namespace mapsim
