// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "plan/groups.hpp"
#include "plan/places.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

// What tensors that are alive at once take at least [B], wherever they lie. Of a concat and its
// parts only the concat counts: if it is elided, they lie inside of it. So no plan that fits into a
// memory has more than that at any of its groups, wherever copies lie (docs/plans.md#limits).
double least_of(const PlanProblem& problem, const std::vector<std::size_t>& alive);

// Where tensors come as copies, by the moves of the problem. Tensors that groups of very many
// tensors read have none, since the proof would be long; neither have concats and their parts,
// whose copies may be one buffer.
void set_copies(PlanProblem& problem);

// Sets `least` and `whole` of the problem's tensors, where they are copied, and the inputs that
// groups read. Parts count without
// padding, so that those of one concat take no more than it does.
void set_least(const std::vector<Place>& places, const Versions& versions, const Groups& groups,
               PlanProblem& problem);

}  // namespace mapsim
