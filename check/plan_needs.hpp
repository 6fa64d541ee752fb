// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "check/plan_proof.hpp"

namespace mapsim::check {

// What tensors need at least while a group runs.
//
// Lemma. A plan whose tensors fit into M bytes needs at most M at each of its groups, where a need
// is the sum over what the group reads, what it makes, and what was made before and is read behind
// it, each with its least size; parts of a concat that is itself in the sum count as nothing. What
// is moved for the group, to a place where it only comes as a copy of its own, counts once more,
// unless a concat joins it with other tensors: copies of a concat and of its parts may be one
// buffer. Inputs of the network that no other group reads count as they lie where the group runs.
//
// Proof. A tensor between its maker and its last reader lies somewhere: where it was made until it
// moves for the first time, and each copy from its move to the last reader there, where the move
// itself reads a copy. So it takes its least size while the group runs. Two tensors take different
// bytes, unless an elided concat joins them. Then they lie side by side inside of the concat, which
// is alive as soon as one of its parts is, and takes no less than its parts together. What is
// converted for a group lies twice meanwhile; both copies are in buffers of their own places. An
// input lies in memory from the start until it is read, in the layout of the first group that reads
// it.
double needs_of(const PlanClaim& claim, const std::set<std::size_t>& alive);

// By tensor and place: whether it only comes there as a copy of its own, since all moves to it
// convert. Tensors that a group of very many reads are taken to have none, which counts less; so
// are concats and their parts, since copies of both may be one buffer.
std::vector<std::vector<bool>> copies_of(const PlanClaim& claim);

// The most at any group of the claim's plan.
double most_needed(const PlanClaim& claim);

// Finds sizes that tensors cannot have.
std::optional<std::string> wrong_needs(const PlanClaim& claim);

}  // namespace mapsim::check
