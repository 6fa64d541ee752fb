// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// A dataflow by name, as rules in the words of docs/formats.md. $level stands for the innermost
// level that may keep the stationary tensor, $array for the largest fanout, and $compute for the
// compute units.
struct Preset {
  std::string_view name;
  Role stationary;
  std::string_view at_level;  // rules for $level, unless the compute units latch the tensor
  std::string_view always;    // rules that always hold
  std::string_view on_array;  // rules if there is a fanout without a given unrolling
  std::string_view others;    // extents of the other tensors at their own levels inside the array
};

std::vector<std::string> preset_names();

// The mapspace rules that the preset stands for on this machine. `constraints` may bypass levels,
// which $level then skips. nullopt: no level and no register can hold the tensor.
std::optional<std::string> expand_preset(std::size_t preset, const Problem& problem,
                                         const Constraints& constraints);

}  // namespace mapsim
