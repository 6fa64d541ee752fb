// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"

namespace mapsim {

// Why figures of tensors with zeros are lower bounds, a sentence for each reason: the places of the
// zeros are not given, or all instances are taken to have equally many. With a mapping also which
// of its lanes are packed and leave out nothing.
std::vector<std::string> zero_notes(const Problem& problem, const Mapping* mapping = nullptr);

// How the machine exploits zeros, for people: formats, and accesses made, gated and skipped, per
// level and tensor; the busiest instance; zero_notes(). Empty if all tensors are dense.
std::string sparse_text(const Problem& problem, const Mapping& mapping, const Cost& cost);
}  // namespace mapsim
