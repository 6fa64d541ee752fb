// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/arch.hpp"
#include "core/reader.hpp"

namespace mapsim {

// A model's form in the map under `timing` of the compute node.
struct TimingText {
  const char* name;  // `model: name`
  Words keys;        // the others
  Timing (*read)(Reader& reader, const Fields& fields, const Arch& arch);
};

// Reads that map; errors go to the reader. `arch` must have all fanouts.
Timing read_timing(Reader& reader, const Node& node, const Arch& arch);

// That map in one line of YAML; empty without a model.
std::string print_timing(const Timing& timing, const Arch& arch);

// The fanout that the key `array` of a model names; the innermost one if it is absent.
FanoutId read_array(Reader& reader, const Fields& fields, const Arch& arch);

}  // namespace mapsim
