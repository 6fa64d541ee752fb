// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/boxes.hpp"
#include "check/goal.hpp"
#include "check/spatial.hpp"

namespace mapsim::check {

// How the paths of tensors are bounded: of each by itself, of all together, or of all with phases.
// Each takes longer than the one before. It mostly is closer, but may be 0 if there are too many
// paths.
enum class Paths : std::uint8_t { kAlone, kTogether, kByPhases };

// A lower bound of all mappings of an unrolling, whatever their tiles: the goal's figures of the
// operations, the steps of the compute units, and the cheapest paths of the tensors
// (tensor_paths.hpp).
Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const Unrolling& unrolling, Paths paths);

// The same for all unrollings in a box per fanout.
Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const ChoiceRanges& ranges, Paths paths);

// The ways that can be of use for the goal, the quickest first.
std::vector<Paths> ways_to_bound(const Rules& rules, const Goal& goal);

}  // namespace mapsim::check
