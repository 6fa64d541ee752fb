// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"

namespace mapsim {

// Why figures of tensors with zeros are lower bounds, a sentence each: nothing says where zeros
// are, or instances are taken to have equally many.
std::vector<std::string> zero_notes(const Problem& problem);

// What a machine makes of zeros: formats, and accesses made, gated and skipped, per level and
// tensor, the busiest instance, and those notes; empty if all is dense.
std::string sparse_text(const Problem& problem, const Mapping& mapping, const Cost& cost);
}  // namespace mapsim
