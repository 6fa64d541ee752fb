// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"

namespace mapsim {

// What a machine makes of zeros: formats, and accesses made, gated and skipped, per level and
// tensor. Of a machine without formats: that densities are a lower bound; empty if all is dense.
std::string sparse_text(const Problem& problem, const Cost& cost);
}  // namespace mapsim
