// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/mapper.hpp"

namespace mapsim {

// How mappings are searched.
struct SearchRequest {
  SearchOptions options{};         // objective, threads, budget, a flag that stops it
  std::string strategy = "exact";  // exhaustive, random, annealing, genetic
  std::string constraints;         // YAML text (docs/formats.md#constraints); empty: none
  std::string constraints_name = "constraints";  // of that text, in errors
  bool even = false;       // all tensors of a level are tiled at the same loop
  bool imperfect = false;  // tiles of ceil(bound / n), too
  bool batches = false;    // NVDLA-like engines: also batches of fully connected layers
};

}  // namespace mapsim
