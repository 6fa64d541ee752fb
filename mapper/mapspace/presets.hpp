// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// A dataflow by name: rules in the words of docs/formats.md, in which $level is the innermost level
// that may keep the stationary tensor, $array the largest fanout and $compute the compute units.
struct Preset {
  std::string_view name;
  Role stationary;
  std::string_view at_level;  // unless the compute units latch the tensor
  std::string_view always;
  std::string_view on_array;  // where there is a fanout without a given unrolling
  std::string_view others;    // extents of the other tensors at levels of their own in the array
};

std::vector<std::string> preset_names();

// The lines of a mapspace that the preset stands for on this machine, the innermost level being one
// that `constraints` do not bypass; nullopt: no level and no latch can hold the tensor.
std::optional<std::string> expand_preset(std::size_t preset, const Problem& problem,
                                         const Constraints& constraints);

}  // namespace mapsim
