// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"
#include "core/reader.hpp"

namespace mapsim {

// How the map under `timing` of the compute node describes a model.
struct TimingText {
  const char* name;  // `model: name`
  Words keys;        // the others
  Timing (*read)(Reader& reader, const Fields& fields, const Arch& arch);
};

// The map under `timing` of the compute node; `arch` has all fanouts.
Timing read_timing(Reader& reader, const Node& node, const Arch& arch);

// The same map in one line of YAML; empty without a model.
std::string print_timing(const Timing& timing, const Arch& arch);

// The fanout that a model's `array` names; the innermost one if it is left out.
FanoutId read_array(Reader& reader, const Fields& fields, const Arch& arch);

}  // namespace mapsim
